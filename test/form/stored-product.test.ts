// Products with weights of 8 and 16 bits widen them in registers.
import { parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import { chooseForms } from '../../src/form/choose.ts';
import type { StoredProduct } from '../../src/form/stored-product.ts';
import { isRewritable, readRewritables, rewritableKey } from '../../src/form/rewritable.ts';
import { casesOfTier } from '../support/needs.ts';
import { HOST, preprocessed, resultsOf } from './support.ts';

interface Case {
  readonly rows?: number;
  /** Number of matrices of rows; 0 for no batch. */
  readonly batch?: number;
  readonly isTransposed?: boolean;
  readonly isUnsigned?: boolean;
  readonly isByColumn?: boolean;
  readonly zero?: number;
  readonly spelling?: 'dequantized' | 'widened' | 'scaled';
  readonly type?: 'i8' | 'bf16';
}

const [K, N] = [128, 136];

/** A product of an argument and constant weights, as the compiler imports DequantizeLinear and MatMul. */
function program({
  rows = 1,
  batch: count = 0,
  isTransposed = false,
  isByColumn = true,
  ...own
}: Case = {}): string {
  const { isUnsigned = false, zero, spelling = 'dequantized', type = 'i8' } = own;
  const stored = isTransposed ? `${N}x${K}` : `${K}x${N}`;
  const elements = Array.from({ length: K * N }, (_, i) => (i * 37 + (i >> 7)) % 251);
  // Powers of two as bf16.
  const bytes = Buffer.from(type === 'i8' ? elements : elements.flatMap((one) => [0, 0x3e + (one % 3)]));
  // Powers of two, whose products are exact.
  const steps = Array.from({ length: N }, (_, i) => 2 ** (-3 - (i % 3)));
  const hasZero = zero !== undefined;
  const [step, zeros] = isByColumn
    ? [`dense<[${steps.join(', ')}]> : tensor<${N}xf32>`, `dense<${zero}> : tensor<${N}xi8>`]
    : ['0.125 : f32', `${zero} : i64`];
  const along = isByColumn ? (isTransposed ? 'd0' : 'd1') : '';
  const maps = ['d0, d1', along, ...(hasZero ? [along] : []), 'd0, d1'].map(
    (one) => `affine_map<(d0, d1) -> (${one})>`,
  );
  const signs = `${isUnsigned ? 'quant_min = 0, quant_max = 255, input_unsigned' : 'quant_min = -128, quant_max = 127'}${isUnsigned && hasZero && isByColumn ? ', zp_unsigned' : ''}`;
  const types = [
    `tensor<${stored}x${type}>`,
    ...[step, ...(hasZero ? [zeros] : [])].map((one) => one.split(' : ')[1]!),
  ];
  const dequantized = `%d = iree_linalg_ext.dequantize_affine <indexing_maps = [${maps.join(', ')}], ${signs}> ins(%w, %s${hasZero ? ', %z' : ''} : ${types.join(', ')}) outs(%d_e : tensor<${stored}xf32>) -> tensor<${stored}xf32>`;
  const generic = (name: string, inputs: string, more: string, body: string) =>
    `%${name} = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, ${more}affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(${inputs}) outs(%d_e : tensor<${stored}xf32>) {
  ${body}
  } -> tensor<${stored}xf32>`;
  const convert = type === 'i8' ? (isUnsigned ? 'uitofp' : 'sitofp') : 'extf';
  const widenedTo = (name: string) =>
    generic(
      ...([name, `%w : tensor<${stored}x${type}>`, ''] as const),
      `^bb0(%in: ${type}, %out: f32):
    %1 = arith.${convert} %in : ${type} to f32
    linalg.yield %1 : f32`,
    );
  const [map, stepsType] = isTransposed ? ['d0, 0', `tensor<${N}x1xf32>`] : ['d1', `tensor<${N}xf32>`];
  const reshaped = (name: string) =>
    `%${name}_2 = tensor.expand_shape %${name} [[0, 1]] output_shape [${N}, 1] : tensor<${N}xf32> into tensor<${N}x1xf32>`;
  const combined = (name: string, value: string, other: string, operation: string) => `
  ${isTransposed ? reshaped(other) : ''}
  ${generic(
    ...([
      name,
      `%${value}, %${other}${isTransposed ? '_2' : ''} : tensor<${stored}xf32>, ${stepsType}`,
    ] as const),
    `affine_map<(d0, d1) -> (${map})>, `,
    `^bb0(%in: f32, %in_0: f32, %out: f32):
    %1 = arith.${operation} %in, %in_0 : f32
    linalg.yield %1 : f32`,
  )}`;
  const moved = hasZero
    ? `%zf = arith.constant dense<${zero}.0> : tensor<${N}xf32>${combined('u', 'v', 'zf', 'subf')}`
    : '';
  const scaled = `${widenedTo('v')}
  ${moved}${combined('d', hasZero ? 'u' : 'v', 's', 'mulf')}`;
  const floats = { dequantized, scaled, widened: widenedTo('d') }[spelling];
  const isBatch = count > 0;
  const batch = isBatch ? `${count}x` : '';
  const [from, into] = [`tensor<${batch}${rows}x${K}xf32>`, `tensor<${batch}${rows}x${N}xf32>`];
  const transposed = isTransposed
    ? `
  %t_e = tensor.empty() : tensor<${K}x${N}xf32>
  %t = linalg.transpose ins(%d : tensor<${stored}xf32>) outs(%t_e : tensor<${K}x${N}xf32>) permutation = [1, 0]`
    : '';
  const matrix = isTransposed ? '%t' : '%d';
  const spread = isBatch
    ? `
  %b_e = tensor.empty() : tensor<${batch}${K}x${N}xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(${matrix} : tensor<${K}x${N}xf32>) outs(%b_e : tensor<${batch}${K}x${N}xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<${batch}${K}x${N}xf32>`
    : '';
  return `func.func @main(%x: ${from}) -> ${into} {
  %w = arith.constant dense<"0x${bytes.toString('hex')}"> : tensor<${stored}x${type}>
  %s = arith.constant ${step}
  ${hasZero ? `%z = arith.constant ${zeros}` : ''}
  %d_e = tensor.empty() : tensor<${stored}xf32>
  ${floats}${transposed}${spread}
  %none = arith.constant 0.0 : f32
  %e = tensor.empty() : ${into}
  %f = linalg.fill ins(%none : f32) outs(%e : ${into}) -> ${into}
  %p = linalg.${batch && 'batch_'}matmul ins(%x, ${isBatch ? '%b' : matrix} : ${from}, tensor<${batch}${K}x${N}xf32>) outs(%f : ${into}) -> ${into}
  return %p : ${into}
}
`;
}

const read = (text: string) => {
  const bytes = Buffer.from(text);
  return readRewritables(bytes, parse(bytes).operations, false);
};

const cases: [Case, string][] = [
  [
    { batch: 1 },
    `1x1x${K}xf32,${K}x${N}xi8(d0, d1),${N}xf32(d1) by dequantize signed of 8 bits->1x1x${N}xf32`,
  ],
  [
    { rows: 7, isUnsigned: true, zero: 131 },
    `7x${K}xf32,${K}x${N}xi8(d0, d1),${N}xf32(d1),${N}xi8(d1) by dequantize unsigned of 8 bits->7x${N}xf32`,
  ],
  [
    { rows: 3, isTransposed: true, spelling: 'scaled' },
    `3x${K}xf32,${N}x${K}xi8(d0, d1) by sitofp 0 f32; (d0, d1),${N}x1xf32(d0, 0) by mulf 0 1 f32 transposed of 8 bits->3x${N}xf32`,
  ],
  [
    { rows: 2, batch: 3, isTransposed: true, zero: -9 },
    `3x2x${K}xf32,${N}x${K}xi8(d0, d1),${N}xf32(d0),${N}xi8(d0) by dequantize signed transposed of 8 bits->3x2x${N}xf32`,
  ],
  [{ isByColumn: false }, `1x${K}xf32,${K}x${N}xi8(d0, d1),f32() by dequantize signed of 8 bits->1x${N}xf32`],
  [
    { rows: 14, isByColumn: false, isUnsigned: true, zero: 3 },
    `14x${K}xf32,${K}x${N}xi8(d0, d1),f32(),i64() by dequantize unsigned of 8 bits->14x${N}xf32`,
  ],
  [
    { rows: 2, spelling: 'scaled' },
    `2x${K}xf32,${K}x${N}xi8(d0, d1) by sitofp 0 f32; (d0, d1),${N}xf32(d1) by mulf 0 1 f32 of 8 bits->2x${N}xf32`,
  ],
  [
    { rows: 3, isUnsigned: true, isTransposed: true, spelling: 'widened' },
    `3x${K}xf32,${N}x${K}xi8(d0, d1) by uitofp 0 f32 transposed of 8 bits->3x${N}xf32`,
  ],
  [
    { rows: 2, isUnsigned: true, isTransposed: true, spelling: 'scaled', zero: 120 },
    `2x${K}xf32,${N}x${K}xi8(d0, d1) by uitofp 0 f32; (d0, d1),${N}x1xf32(d0, 0) by subf 0 1 f32; (d0, d1),${N}x1xf32(d0, 0) by mulf 0 1 f32 transposed of 8 bits->2x${N}xf32`,
  ],
  [
    { type: 'bf16', spelling: 'widened' },
    `1x${K}xf32,${K}x${N}xbf16(d0, d1) by extf 0 f32 of 16 bits->1x${N}xf32`,
  ],
];
test.each(casesOfTier(cases, 2))(
  'a product with weights of 8 bits %o has equal results',
  async (own, key) => {
    const text = program(own);
    const products = read(text);
    expect(products.map(rewritableKey)).toEqual([`stored product ${key}`]);
    expect(products.every(isRewritable)).toBe(true);
    for (const packing of ['6x16', '6x64'] as const) {
      const choices = chooseForms(products, { stored: packing });
      expect(choices.map(({ form }) => form)).toEqual([`in-registers-${packing}`]);
      expect(await preprocessed(text, choices)).not.toMatch(/dequantize|matmul/);
      const shape = [...(own.batch === undefined ? [] : [own.batch]), own.rows ?? 1, K];
      // Sums of small integers and of powers of two are exact in any order.
      const { written, formed } = await resultsOf(text, choices, [shape], (i) => ((i * 7) % 11) - 5, HOST);
      expect(new Set(written).size).toBeGreaterThan(20);
      expect(formed, packing).toEqual(written);
    }
  },
);

test('without strips, a product stays as written', () => {
  const products = read(program());
  expect(chooseForms(products, { f32: '6x16', i8: 'vpdpbusd' })).toEqual([]);
  expect(chooseForms(products)).toEqual([]);
});

test('other dequantized values stay as written', () => {
  const text = program();
  // Steps along the rows, weights of 7 bits, and weights that the program computes.
  expect(read(text.replace('(d0, d1) -> (d1)', '(d0, d1) -> (d0)'))).toEqual([]);
  expect(read(text.replace('quant_min = -128', 'quant_min = -64'))).toEqual([]);
  expect(read(text.replace('ins(%w, ', 'ins(%x, '))).toEqual([]);
  // Floats that the program makes integers on the way.
  const halves = program({ spelling: 'widened', type: 'bf16' });
  expect(read(halves)).toHaveLength(1);
  const rounded = '%2 = arith.fptosi %1 : f32 to i32\n    %3 = arith.sitofp %2 : i32 to f32\n';
  expect(read(halves.replace('linalg.yield %1', `${rounded}    linalg.yield %3`))).toEqual([]);
  // A batch that is no copy of the matrix.
  expect(read(program({ batch: 1 }).replace('-> (d1, d2)>', '-> (d2, d1)>'))).toEqual([]);
});

test('every field is checked, because all are written into MLIR', () => {
  const [own] = read(program()) as [StoredProduct];
  const [stage] = own.stages as [StoredProduct['stages'][number]];
  const tensor = (shape: readonly number[], elementType = 'f32') => ({ shape, elementType });
  const inputs = (...all: ReturnType<typeof tensor>[]) => ({ stages: [{ ...stage, inputs: all }] });
  const [weights, steps] = [tensor([K, N], 'i8'), tensor([N])];
  expect(isRewritable({ ...own, ...inputs(weights, steps) })).toBe(true);
  for (const change of [
    { name: 'linalg.matvec' },
    { lhs: tensor([1, K + 1]) },
    { lhs: tensor([1, K], 'f16') },
    { result: tensor([2, N]) },
    { isTransposed: true },
    { isTransposed: 'no' },
    { bits: 4 },
    { sum: [{ name: 'arith.mulf', of: [0, 1], type: 'f32' }] },
    inputs(tensor([K, N]), steps),
    inputs(tensor([K, N], 'f16'), steps),
    inputs(tensor([K, N - 1], 'i8'), steps),
    inputs(weights, tensor([N], 'f16')),
    inputs(weights, tensor([N - 1])),
    inputs(weights, steps, tensor([N], 'i8')),
    inputs(steps, weights),
    { stages: [{ ...stage, maps: ['d0, d1', 'd0'] }] },
    { stages: [{ ...stage, maps: ['d0, d1', 'd1)>'] }] },
    { stages: [{ ...stage, maps: ['d1, d0', 'd1'] }] },
    { stages: [{ ...stage, steps: 'half' }] },
    { stages: [{ ...stage, steps: [] }] },
    { stages: [stage, stage] },
    { stages: [] },
  ])
    expect(isRewritable({ ...own, ...change }), JSON.stringify(change)).toBe(false);
});
