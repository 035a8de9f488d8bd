// Products of narrow numbers in tiles.
import { readFileSync } from 'node:fs';
import { parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import { chooseForms, choicesOf, namesOf } from '../../src/form/choose.ts';
import {
  isPackedProduct,
  readPackedProduct,
  writtenPackedProduct,
  type PackedProduct,
} from '../../src/form/packed-product.ts';
import { isRewritable, rewritableKey } from '../../src/form/rewritable.ts';
import { tensorText } from '../../src/workload/tensor.ts';
import { HOST, preprocessed, resultsOf } from './support.ts';

const WAYS = { u: 'arith.extui', s: 'arith.extsi' } as const;

/** @param signs of both factors */
function product(
  [b, m, n, k]: readonly [number, number, number, number],
  signs: 'uu' | 'us' | 'su' | 'ss',
  isTransposed: boolean,
): PackedProduct {
  const batch = b === 1 ? [] : [b];
  const i8 = (...shape: readonly number[]) => ({ shape: [...batch, ...shape], elementType: 'i8' });
  return {
    name: 'product of narrow numbers',
    factors: [i8(m, k), isTransposed ? i8(n, k) : i8(k, n)],
    isTransposed,
    widenings: [WAYS[signs[0] as 'u'], WAYS[signs[1] as 'u']],
    result: { shape: [...batch, m, n], elementType: 'i32' },
  };
}

/** How a program makes a number of a type from a float. */
const FROM_FLOAT: Readonly<Record<string, string>> = {
  i8: 'arith.fptosi',
  i32: 'arith.fptosi',
  bf16: 'arith.truncf',
};

/** A program with a product, whose operands are given as floats. */
function programOf(one: PackedProduct): string {
  const { operands, operation, type } = writtenPackedProduct(one);
  const float = (value: (typeof operands)[number]) => tensorText({ ...value, elementType: 'f32' });
  const isFloat = (value: (typeof operands)[number]) => value.elementType === 'f32';
  const parameters = operands.map((value) => `${value.name}${isFloat(value) ? '' : '_f'}: ${float(value)}`);
  const converted = operands
    .filter((value) => !isFloat(value))
    .map(
      (value) =>
        `  ${value.name} = ${FROM_FLOAT[value.elementType]} ${value.name}_f : ${float(value)} to ${tensorText(value)}\n`,
    );
  const into = operands.at(-1)!;
  const back = isFloat(into) ? '' : `  %s = arith.sitofp %r : ${type} to ${float(into)}\n`;
  return `func.func @main(${parameters.join(', ')}) -> ${float(into)} {
${converted.join('')}  %r = ${operation}
${back}  return ${isFloat(into) ? '%r' : '%s'} : ${float(into)}
}
`;
}

const read = (text: string) => {
  const bytes = Buffer.from(text);
  return parse(bytes).operations.flatMap((operation) => readPackedProduct(operation, bytes) ?? []);
};

const FEATURES = process.platform === 'linux' ? readFileSync('/proc/cpuinfo', 'utf8') : '';
const HAS_VNNI = /\bavx512_vnni\b/.test(FEATURES);
const HAS_BF16 = /\bavx512_bf16\b/.test(FEATURES);

/** Code for tiles of a microkernel without the runtime's, which is for one processor each. */
const PLAIN = [...HOST, '--iree-llvmcpu-enable-ukernels=none'];

test.each([
  ['whole tiles', product([1, 32, 16, 8], 'ss', false), '32x8xi8,8x16xi8->32x16xi32'],
  ['parts of tiles', product([1, 20, 9, 7], 'us', true), '20x7xui8,9x7xi8->20x9xi32, transposed'],
  ['a single row', product([1, 1, 40, 33], 'su', false), '1x33xi8,33x40xui8->1x40xi32'],
  ['a batch', product([3, 32, 16, 5], 'uu', false), '3x32x5xui8,3x5x16xui8->3x32x16xi32'],
  ['a batch with parts', product([2, 5, 11, 4], 'us', true), '2x5x4xui8,2x11x4xi8->2x5x11xi32, transposed'],
] as const)('%s of a product have equal results in tiles', async (_, one, key) => {
  const text = programOf(one);
  const operations = read(text);
  expect(operations).toEqual([one]);
  expect(operations.map(rewritableKey)).toEqual([`product of narrow numbers ${key}`]);
  expect(operations.every(isRewritable)).toBe(true);
  const shapes = [...one.factors, one.result].map(({ shape }) => shape);
  // The bits of a negative integer are an unsigned one above 127.
  const valueAt = (i: number, at: number) => ((i * 37 + at * 5) % 256) - 128;
  for (const [packing, flags, written] of [
    ['16x16x2', PLAIN, /linalg\.(?:batch_)?mmt4d/],
    ['8x8x8', PLAIN, /linalg\.(?:batch_)?mmt4d/],
    ...(HAS_VNNI ? [['vpdpbusd', [...HOST, '--iree-llvmcpu-target-cpu=host'], /inner_tiled/] as const] : []),
  ] as const) {
    const choices = chooseForms(operations, { i8: packing });
    expect(choices.map(({ form }) => form)).toEqual([`packed-${packing}`]);
    // Notes and lock files have the names only.
    expect(choicesOf(operations, namesOf(choices), { i8: packing })).toEqual(choices);
    expect(await preprocessed(text, choices)).toMatch(written);
    const { written: expected, formed } = await resultsOf(text, choices, shapes, valueAt, flags);
    expect(new Set(expected).size).toBeGreaterThan(20);
    expect(formed, packing).toEqual(expected);
  }
});

const bf16 = (...shape: readonly number[]) => ({ shape, elementType: 'bf16' });

test.each([
  ['whole tiles', [bf16(32, 8), bf16(8, 16)], [32, 16]],
  ['a batch with parts', [bf16(2, 5, 7), bf16(2, 7, 11)], [2, 5, 11]],
] as const)('%s of a product of halves have equal results in tiles', async (_, factors, shape) => {
  const result = { shape, elementType: 'f32' };
  const one = { ...product([1, 1, 1, 1], 'ss', false), factors, widenings: null, result } as PackedProduct;
  const program = programOf(one);
  const operations = read(program);
  expect(operations).toEqual([one]);
  expect(operations.every(isRewritable)).toBe(true);
  expect(chooseForms(operations, { i8: 'vpdpbusd' })).toEqual([]);
  const choices = chooseForms(operations, { bf16: 'vdpbf16ps' });
  expect(choices.map(({ form }) => form)).toEqual(['packed-vdpbf16ps']);
  expect(await preprocessed(program, choices)).toMatch(/inner_tiled/);
  if (!HAS_BF16) return;
  const shapes = [...factors, result].map((own) => own.shape);
  // Sums of small integers are exact in any order.
  const valueAt = (i: number, at: number) => ((i * 37 + at * 5) % 17) - 8;
  const host = [...HOST, '--iree-llvmcpu-target-cpu=host'];
  const { written, formed } = await resultsOf(program, choices, shapes, valueAt, host);
  expect(new Set(written).size).toBeGreaterThan(20);
  expect(formed).toEqual(written);
});

test('without a packing, and with one of another target, a product stays as written', () => {
  const operations = [product([1, 4, 16, 8], 'ss', false)];
  expect(chooseForms(operations)).toEqual([]);
  expect(chooseForms(operations, {})).toEqual([]);
  for (const form of ['packed', 'packed-0x16x2', 'packed-8x8x2', 'packed-toString', 'in-8-bits-16x16x2'])
    expect(
      choicesOf(operations, new Map([[rewritableKey(operations[0]!), form]]), { i8: '16x16x2' }),
      form,
    ).toEqual([]);
});

test('other generic products stay as written', () => {
  const text = programOf(product([1, 4, 16, 8], 'ss', false));
  expect(read(text.replace('arith.muli', 'arith.subi'))).toEqual([]);
  expect(read(text.replaceAll('xi8', 'xi16').replaceAll(': i8', ': i16'))).toEqual([]);
  expect(read(text.replaceAll('4x', '?x'))).toEqual([]);
});

test('every field is checked, because all are written into MLIR', () => {
  const own = product([1, 4, 16, 8], 'ss', false);
  const tensor = (shape: readonly number[], elementType = 'i8') => ({ shape, elementType });
  expect(isPackedProduct(own)).toBe(true);
  for (const change of [
    { name: 'linalg.generic' },
    { factors: [tensor([4, 8]), tensor([8, 17])] },
    { factors: [tensor([4, 8]), tensor([8, 16], 'i4')] },
    { factors: [tensor([4, 2 ** 16]), tensor([2 ** 16, 16])] },
    { factors: [tensor([2, 2, 4, 8]), tensor([2, 2, 8, 16])] },
    { result: tensor([4, 16], 'i64') },
    { widenings: ['arith.extsi', 'arith.extf'] },
    { isTransposed: true },
    { isTransposed: 1 },
  ])
    expect(isPackedProduct({ ...own, ...change }), JSON.stringify(change)).toBe(false);
});
