// Products of integers with zero points are computed in 8 bits.
import { parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import { chooseForms } from '../../src/form/choose.ts';
import { isIntegerProduct, readIntegerProduct } from '../../src/form/integer-product.ts';
import { isRewritable, rewritableKey } from '../../src/form/rewritable.ts';
import { preprocessed, resultsOf } from './support.ts';
import { casesOfTier } from '../support/needs.ts';

interface Case {
  readonly isBatch?: boolean;
  readonly isUnsigned?: boolean;
  /** Of the second factor. */
  readonly zero?: number;
}

/** A product as the compiler imports MatMulInteger, of two arguments of floats that are integers. */
function program({ isBatch = false, isUnsigned = true, zero = 0 }: Case = {}): string {
  const batch = isBatch ? '1x' : '';
  const maps = (rank: number, ...all: readonly string[]) => {
    const loops = Array.from({ length: rank }, (_, d) => `d${d}`).join(', ');
    return `[${all.map((one) => `affine_map<(${loops}) -> (${one === '=' ? loops : one})>`).join(', ')}], iterator_types = [${Array<string>(rank).fill('"parallel"').join(', ')}]`;
  };
  const moved = (name: string, shape: string, ext: string) => {
    const rank = shape.split('x').length;
    return `
  %${name}_e = tensor.empty() : tensor<${shape}xi32>
  %${name}_w = linalg.generic {indexing_maps = ${maps(rank, '=', '=')}} ins(%${name}_i : tensor<${shape}xi8>) outs(%${name}_e : tensor<${shape}xi32>) {
  ^bb0(%in: i8, %out: i32):
    %1 = arith.${ext} %in : i8 to i32
    linalg.yield %1 : i32
  } -> tensor<${shape}xi32>
  %${name} = linalg.generic {indexing_maps = ${maps(rank, '=', '', '=')}} ins(%${name}_w, %${name}_z : tensor<${shape}xi32>, tensor<i8>) outs(%${name}_e : tensor<${shape}xi32>) {
  ^bb0(%in: i32, %in_0: i8, %out: i32):
    %1 = arith.${ext} %in_0 : i8 to i32
    %2 = arith.subi %in, %1 : i32
    linalg.yield %2 : i32
  } -> tensor<${shape}xi32>`;
  };
  const result = `tensor<${batch}4x24xi64>`;
  const batching = `
  %m_e = tensor.empty() : tensor<1x16x24xi32>
  %m = linalg.generic {indexing_maps = ${maps(3, 'd1, d2', '=')}} ins(%b : tensor<16x24xi32>) outs(%m_e : tensor<1x16x24xi32>) {
  ^bb0(%in: i32, %out: i32):
    linalg.yield %in : i32
  } -> tensor<1x16x24xi32>`;
  const ext = isUnsigned ? 'extui' : 'extsi';
  return `func.func @main(%x: tensor<${batch}4x16xf32>, %y: tensor<16x24xf32>) -> tensor<${batch}4x24xf32> {
  %a_i = arith.fptosi %x : tensor<${batch}4x16xf32> to tensor<${batch}4x16xi8>
  %b_i = arith.fptosi %y : tensor<16x24xf32> to tensor<16x24xi8>
  %a_z = arith.constant dense<${isUnsigned ? 200 : -7}> : tensor<i8>
  %b_z = arith.constant dense<${zero}> : tensor<i8>${moved('a', `${batch}4x16`, ext)}${moved('b', '16x24', 'extsi')}${isBatch ? batching : ''}
  %none = arith.constant 0 : i64
  %e = tensor.empty() : ${result}
  %f = linalg.fill ins(%none : i64) outs(%e : ${result}) -> ${result}
  %p = linalg.${isBatch ? 'batch_' : ''}matmul ins(%a, ${isBatch ? '%m : tensor<1x4x16xi32>, tensor<1x16x24xi32>' : '%b : tensor<4x16xi32>, tensor<16x24xi32>'}) outs(%f : ${result}) -> ${result}
  %s = arith.sitofp %p : ${result} to tensor<${batch}4x24xf32>
  return %s : tensor<${batch}4x24xf32>
}
`;
}

const read = (text: string) => {
  const bytes = Buffer.from(text);
  return parse(bytes).operations.flatMap((operation) => readIntegerProduct(operation, bytes) ?? []);
};

const cases: [Case, string][] = [
  [{ isUnsigned: false, zero: 5 }, 'linalg.matmul 4x16xi8,16x24xi8->4x24xi64 around a zero point'],
  [{ isBatch: true, zero: -3 }, 'linalg.batch_matmul 1x4x16xui8,16x24xi8->1x4x24xi64 around a zero point'],
  [{}, 'linalg.matmul 4x16xui8,16x24xi8->4x24xi64'],
  [{ isBatch: true }, 'linalg.batch_matmul 1x4x16xui8,16x24xi8->1x4x24xi64'],
];
test.each(casesOfTier(cases, 1))('a product of integers %o has equal results in 8 bits', async (own, key) => {
  const text = program(own);
  const products = read(text);
  expect(products.map(rewritableKey)).toEqual([key]);
  expect(products.every(isRewritable)).toBe(true);
  const choices = chooseForms(products);
  expect(choices.map(({ form }) => form)).toEqual(['in-8-bits']);
  const left = await preprocessed(text, choices);
  expect(left).toMatch(/linalg\.matmul [^\n]*xi8>[^\n]*xi32>/);
  expect(left).not.toMatch(/matmul [^\n]*xi64>/);
  const shapes = [
    [...(own.isBatch ? [1] : []), 4, 16],
    [16, 24],
  ];
  // The bits of a negative integer are an unsigned one above 127.
  const valueAt = (i: number, at: number) => (at === 0 ? ((i * 37) % 256) - 128 : ((i * 11) % 255) - 127);
  const { written, formed } = await resultsOf(text, choices, shapes, valueAt);
  expect(new Set(written).size).toBeGreaterThan(20);
  expect(formed).toEqual(written);
});

test('other products of integers stay as written', () => {
  expect(read(program().replace('arith.subi', 'arith.addi'))).toEqual([]);
  // The zero point of an unsigned factor is unsigned, too.
  expect(read(program().replace('extui %in_0', 'extsi %in_0'))).toEqual([]);
});

test('every field is checked, because all are written into MLIR', () => {
  const [own] = read(program());
  const tensor = (shape: readonly number[], elementType = 'i8') => ({ shape, elementType });
  for (const change of [
    { name: 'linalg.matvec' },
    { name: 'linalg.batch_matmul' },
    { integers: [tensor([4, 16]), tensor([16, 25])] },
    { integers: [tensor([4, 16]), tensor([16, 24], 'i16')] },
    { integers: [tensor([4, 2 ** 16]), tensor([2 ** 16, 24])] },
    { result: tensor([4, 24], 'i8') },
    { isUnsigned: [true] },
    { isSymmetric: 'yes' },
  ])
    expect(isIntegerProduct({ ...own, ...change }), JSON.stringify(change)).toBe(false);
});
