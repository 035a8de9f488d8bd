// Products in tiles.
// In full after a change of src/form/packing.ts, src/form/windows-by-filters.ts.
import { readFileSync } from 'node:fs';
import { parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import { chooseForms, choicesOf, namesOf } from '../../src/form/choose.ts';
import {
  isPackedProduct,
  readPackedProduct,
  packedProducts,
  type PackedProduct,
} from '../../src/form/packed-product.ts';
import type { Packings } from '../../src/form/packing.ts';
import { isRewritable, rewritableKey } from '../../src/form/rewritable.ts';
import { tensorText } from '../../src/workload/tensor.ts';
import { HOST, preprocessed, resultsOf } from './support.ts';
import { casesOfTier } from '../support/needs.ts';

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
    name: 'product in tiles',
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
  const { operands, operation, type } = packedProducts.writtenOf(one);
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

const products: [string, PackedProduct, string][] = [
  ['whole tiles', product([1, 32, 16, 8], 'ss', false), '32x8xi8,8x16xi8->32x16xi32'],
  ['parts of tiles', product([1, 20, 9, 7], 'us', true), '20x7xui8,9x7xi8->20x9xi32, transposed'],
  ['a single row', product([1, 1, 40, 33], 'su', false), '1x33xi8,33x40xui8->1x40xi32'],
  ['a batch', product([3, 32, 16, 5], 'uu', false), '3x32x5xui8,3x5x16xui8->3x32x16xi32'],
  ['a batch with parts', product([2, 5, 11, 4], 'us', true), '2x5x4xui8,2x11x4xi8->2x5x11xi32, transposed'],
];

test.each(casesOfTier(products, 1))('%s of a product have equal results in tiles', async (_, one, key) => {
  const text = programOf(one);
  const operations = read(text);
  expect(operations).toEqual([one]);
  expect(operations.map(rewritableKey)).toEqual([`product in tiles ${key}`]);
  expect(operations.every(isRewritable)).toBe(true);
  const shapes = [...one.factors, one.result].map(({ shape }) => shape);
  // The bits of a negative integer are an unsigned one above 127.
  const valueAt = (i: number, at: number) => ((i * 37 + at * 5) % 256) - 128;
  const packings = [
    ['16x16x2', PLAIN, /linalg\.(?:batch_)?mmt4d/],
    ['8x8x8', PLAIN, /linalg\.(?:batch_)?mmt4d/],
    ...(HAS_VNNI ? [['vpdpbusd', [...HOST, '--iree-llvmcpu-target-cpu=host'], /inner_tiled/] as const] : []),
  ] as const;
  for (const [packing, flags, written] of casesOfTier(packings, 1)) {
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

/** Small integers, whose sums are exact in any order. */
const constantOf = (rows: number, columns: number) =>
  `arith.constant dense<[${Array.from({ length: rows }, (_, i) => `[${Array.from({ length: columns }, (_, j) => (((i * 7 + j * 3) % 11) - 5).toFixed(1)).join(', ')}]`).join(', ')}]> : tensor<${rows}x${columns}xf32>`;

const rowsTimesWeights = (rows: number, columns: number) => {
  const [a, w, c] = [`tensor<${rows}x8xf32>`, `tensor<8x${columns}xf32>`, `tensor<${rows}x${columns}xf32>`];
  return `func.func @main(%a: ${a}, %c: ${c}) -> ${c} {
  %w = ${constantOf(8, columns)}
  %r = linalg.matmul ins(%a, %w : ${a}, ${w}) outs(%c : ${c}) -> ${c}
  return %r : ${c}
}
`;
};

/** The matrix `value` as a batch of one, `%b`. */
const batchOfOne = (value: string, rows: number, columns: number) => {
  const [from, to] = [`tensor<${rows}x${columns}xf32>`, `tensor<1x${rows}x${columns}xf32>`];
  return `%f = tensor.empty() : ${to}
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(${value} : ${from}) outs(%f : ${to}) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> ${to}`;
};

/** Products of f32 with constant weights, and their tiles of registers. The last one is for a batch of one. */
const WITH_WEIGHTS = {
  'whole strips': ['6, 1, 16, 0', rowsTimesWeights(12, 32)],
  'one row, and the last strip is a part': ['4, 16, 0', rowsTimesWeights(1, 150)],
  'three rows': ['3, 2, 16, 0', rowsTimesWeights(3, 160)],
  'one row of a batch, and transposed': [
    '4, 16, 0',
    `func.func @main(%a: tensor<1x1x8xf32>, %c: tensor<1x1x150xf32>) -> tensor<1x1x150xf32> {
  %layers.0-weight = ${constantOf(150, 8)}
  %e = tensor.empty() : tensor<8x150xf32>
  %t = linalg.transpose ins(%layers.0-weight : tensor<150x8xf32>) outs(%e : tensor<8x150xf32>) permutation = [1, 0]
  ${batchOfOne('%t', 8, 150)}
  %r = linalg.batch_matmul ins(%a, %b : tensor<1x1x8xf32>, tensor<1x8x150xf32>) outs(%c : tensor<1x1x150xf32>) -> tensor<1x1x150xf32>
  return %r : tensor<1x1x150xf32>
}
`,
  ],
  'parts of strips, and more rows than a workgroup has': [
    '6, 1, 16, 0',
    `func.func @main(%a: tensor<1x201x7xf32>, %c: tensor<1x201x41xf32>) -> tensor<1x201x41xf32> {
  %w = ${constantOf(7, 41)}
  ${batchOfOne('%w', 7, 41)}
  %r = linalg.batch_matmul ins(%a, %b : tensor<1x201x7xf32>, tensor<1x7x41xf32>) outs(%c : tensor<1x201x41xf32>) -> tensor<1x201x41xf32>
  return %r : tensor<1x201x41xf32>
}
`,
  ],
} as const;

test.each(casesOfTier(Object.entries(WITH_WEIGHTS), 2))(
  '%s of weights have equal results',
  async (_, [tiles, text]) => {
    const operations = read(text);
    const choices = chooseForms(operations, { f32: '6x16' });
    expect(choices.map(({ form }) => form)).toEqual(['packed-6x16']);
    expect(await preprocessed(text, choices)).toMatch(
      new RegExp(`compilation_info = #iree_codegen.*vector_common_parallel = \\[${tiles}\\]`, 's'),
    );
    const [{ factors, result }] = operations as [PackedProduct];
    const shapes = [factors[0].shape, result.shape];
    const { written, formed } = await resultsOf(
      text,
      choices,
      shapes,
      (i, at) => ((i * 5 + at) % 9) - 4,
      HOST,
    );
    expect(new Set(written).size).toBeGreaterThan(20);
    expect(formed).toEqual(written);
  },
);

test('rows of f16, and constant weights that are transposed, have equal results in strips', async () => {
  const text = `func.func @main(%a: tensor<3x8xf32>, %c: tensor<3x150xf32>) -> tensor<3x150xf32> {
  %h = arith.truncf %a : tensor<3x8xf32> to tensor<3x8xf16>
  %w = ${constantOf(150, 8).replace('xf32>', 'xf16>')}
  %e = tensor.empty() : tensor<8x150xf16>
  %t = linalg.transpose ins(%w : tensor<150x8xf16>) outs(%e : tensor<8x150xf16>) permutation = [1, 0]
  %r = linalg.matmul ins(%h, %t : tensor<3x8xf16>, tensor<8x150xf16>) outs(%c : tensor<3x150xf32>) -> tensor<3x150xf32>
  return %r : tensor<3x150xf32>
}
`;
  const operations = read(text);
  expect(chooseForms(operations, { f32: '6x16', stored: '6x16' })).toEqual([]);
  const choices = chooseForms(operations, { f16: '6x64' });
  expect(choices.map(({ form }) => form)).toEqual(['packed-6x64']);
  expect(await preprocessed(text, choices)).toMatch(/vector_common_parallel = \[3, 8, 16, 0\]/);
  const shapes = [
    [3, 8],
    [3, 150],
  ];
  const valueAt = (i: number, at: number) => ((i * 5 + at) % 9) - 4;
  const { written, formed } = await resultsOf(text, choices, shapes, valueAt, HOST);
  expect(new Set(written).size).toBeGreaterThan(20);
  expect(formed).toEqual(written);
  expect(read(text.replace(/%w = arith\.constant .*/, '%w = "some.op"() : () -> tensor<150x8xf16>'))).toEqual(
    [],
  );
});

test('a product of f32 without constant weights, of a batch, or with few columns has no tiles', () => {
  const [, text] = WITH_WEIGHTS['whole strips'];
  const weights = text.replace(/%w = arith\.constant .*/, '%w = "some.op"() : () -> tensor<8x32xf32>');
  expect(read(weights)).toEqual([]);
  const [one] = read(text) as [PackedProduct];
  const f32 = (...shape: number[]) => ({ shape, elementType: 'f32' });
  expect(isPackedProduct(one)).toBe(true);
  expect(isPackedProduct({ ...one, factors: [f32(2, 12, 8), f32(2, 8, 32)], result: f32(2, 12, 32) })).toBe(
    false,
  );
  expect(isPackedProduct({ ...one, factors: [f32(12, 8), f32(8, 31)], result: f32(12, 31) })).toBe(false);
});

/** A convolution of 16 channels with this number of filters. */
const convolutionOf = (filters: number, strides: readonly [number, number] = [1, 1]) => {
  const f32 = (...shape: number[]) => ({ shape, elementType: 'f32' });
  const result = [Math.ceil(7 / strides[0]), Math.ceil(5 / strides[1])];
  return {
    ...{ name: 'linalg.conv_2d_nchw_fchw', strides, dilations: [1, 2] },
    ...{ image: f32(1, 16, 9, 9), filter: f32(filters, 16, 3, 3), result: f32(1, filters, ...result) },
  };
};

test('windows of f32 are copied for many filters only', () => {
  const formOf = (filters: number, packings: Packings) =>
    chooseForms([convolutionOf(filters), convolutionOf(filters)], packings)[0]!.form;
  const avx2 = { f32: '6x16', stored: '6x16' } as const;
  expect(formOf(128, avx2)).toBe('windows-by-filters-6x16');
  expect(formOf(128, {})).toBe('blocks-of-filters');
  expect(formOf(64, avx2)).toBe('channels-last');
  // With AVX-512, of few pixels.
  expect(formOf(128, { stored: '6x64' })).toBe('windows-by-filters-6x64');
});

const windows: [number, number][] = [
  [2, 1],
  [1, 3],
  [1, 1],
  [2, 2],
];
test.each(casesOfTier(windows, 1))(
  'windows with strides of %i and %i have the results of the convolution',
  async (...strides) => {
    const operation = convolutionOf(128, strides);
    const shapes = [operation.image, operation.filter, operation.result].map(({ shape }) => shape);
    const [image, filter, result] = shapes.map((shape) => `tensor<${shape.join('x')}xf32>`);
    const text = `func.func @main(%a: ${image!}, %b: ${filter!}, %c: ${result!}) -> ${result!} {
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 2]> : vector<2xi64>, strides = dense<[${strides.join(', ')}]> : vector<2xi64>} ins(%a, %b : ${image!}, ${filter!}) outs(%c : ${result!}) -> ${result!}
  return %r : ${result!}
}
`;
    const choices = [{ operation, form: 'windows-by-filters-6x16' }];
    const { written, formed } = await resultsOf(
      text,
      choices,
      shapes,
      (i, at) => ((i * 5 + at) % 9) - 4,
      HOST,
    );
    expect(formed).toEqual(written);
  },
);
