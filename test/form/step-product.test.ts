import { parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import { chooseForms } from '../../src/form/choose.ts';
import { isRewritable, rewritableKey } from '../../src/form/rewritable.ts';
import { isStepProduct, readStepProducts } from '../../src/form/step-product.ts';
import { HOST, preprocessed, resultsOf } from './support.ts';
import { casesOfTier } from '../support/needs.ts';

const read = (text: string) => {
  const bytes = Buffer.from(text);
  return readStepProducts(parse(bytes).operations, bytes);
};

const STEPS = 5;

interface Loop {
  readonly rows?: number;
  readonly columns?: number;
  /** Where the weights are made. */
  readonly weights?: 'before' | 'inside';
  /** As exporters of ONNX and PyTorch write it (transposed weights), and as JAX does (others, and vectors for one row). */
  readonly as?: 'transposed' | 'matrix' | 'vector' | 'row';
}

/** A loop over five steps: each is multiplied by weights, and added to twice the sum so far. */
function recurrent({ rows = 1, columns = 144, weights = 'before', as = 'transposed' }: Loop = {}) {
  const matrix = as === 'transposed' ? `${columns}x128` : `128x${columns}`;
  const own = `%w = tensor.extract_slice %all[0, 0, 0] [1, ${matrix.replace('x', ', ')}] [1, 1, 1] : tensor<1x${matrix}xf32> to tensor<${matrix}xf32>`;
  const [result, row] = as === 'vector' ? [`${columns}`, '128'] : [`${rows}x${columns}`, `${rows}x128`];
  const type = `tensor<${result}xf32>`;
  const flat = as === 'row';
  const ofSlice = flat ? 'tensor<1x128xf32>' : `tensor<1x${rows}x128xf32>`;
  const slice = flat
    ? `%row = tensor.extract_slice %x[%i, 0] [1, 128] [1, 1] : tensor<${STEPS}x128xf32> to ${ofSlice}`
    : `%slice = tensor.extract_slice %sequence[%i, 0, 0] [1, ${rows}, 128] [1, 1, 1] : tensor<${STEPS}x${rows}x128xf32> to ${ofSlice}
    %row = tensor.collapse_shape %slice ${as === 'vector' ? '[[0, 1, 2]]' : '[[0, 1], [2]]'} : ${ofSlice} into tensor<${row}xf32>`;
  const transpose = `%none = tensor.empty() : tensor<128x${columns}xf32>
    %t = linalg.transpose ins(%w : tensor<${columns}x128xf32>) outs(%none : tensor<128x${columns}xf32>) permutation = [1, 0]`;
  return `
func.func @main(%x: tensor<${STEPS * rows}x128xf32>, %initial: ${type}, %all: tensor<1x${matrix}xf32>) -> ${type} {
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant ${STEPS} : index
  %zero = arith.constant 0.0 : f32
  %sequence = tensor.expand_shape %x [[0, 1], [2]] output_shape [${STEPS}, ${rows}, 128] : tensor<${STEPS * rows}x128xf32> into tensor<${STEPS}x${rows}x128xf32>
  ${weights === 'before' ? own : ''}
  %last = scf.for %i = %first to %steps step %one iter_args(%sum = %initial) -> (${type}) {
    ${weights === 'inside' ? own : ''}
    ${slice}
    ${as === 'transposed' ? transpose : ''}
    %empty = tensor.empty() : ${type}
    %into = linalg.fill ins(%zero : f32) outs(%empty : ${type}) -> ${type}
    %p = linalg.${as === 'vector' ? 'vecmat' : 'matmul'} ins(%row, ${as === 'transposed' ? '%t' : '%w'} : tensor<${row}xf32>, tensor<128x${columns}xf32>) outs(%into : ${type}) -> ${type}
    %twice = arith.addf %sum, %sum : ${type}
    %next = arith.addf %p, %twice : ${type}
    scf.yield %next : ${type}
  }
  return %last : ${type}
}
`;
}

test('a product of each step is found, if its weights and its sequence are older than the loop', () => {
  const products = read(recurrent());
  expect(products.map(rewritableKey)).toEqual([
    'step of linalg.matmul 5x1x128xf32,144x128xf32->1x144xf32 transposed',
  ]);
  expect(read(recurrent({ as: 'vector' })).map(rewritableKey)).toEqual([
    'step of linalg.vecmat 5x1x128xf32,128x144xf32->144xf32',
  ]);
  expect(products.every(isRewritable)).toBe(true);
  expect(read(recurrent({ weights: 'inside' }))).toEqual([]);
  expect(read(recurrent() + recurrent({ weights: 'inside' }))).toEqual([]);
  expect(read(recurrent({ as: 'row' }).replace('extract_slice %x[', 'extract_slice %sum['))).toEqual([]);
});

test('every field is checked, because all are written into MLIR', () => {
  const [own] = read(recurrent({ rows: 3 }));
  expect(isStepProduct(own)).toBe(true);
  for (const change of [
    { name: 'linalg.vecmat' },
    { name: 'linalg.mat' },
    { isTransposed: false },
    { isTransposed: 'x' },
    { sequence: { ...own!.sequence, shape: [1.5, 3, 128] } },
    { sequence: { ...own!.sequence, shape: [1, 3, 128] } },
    { sequence: { ...own!.sequence, shape: [5, 2, 128] } },
    { sequence: { ...own!.sequence, shape: [5, 3, 1, 128] } },
    { weights: { ...own!.weights, elementType: 'f16' } },
    { weights: { ...own!.weights, shape: [144, 127] } },
    { result: { ...own!.result, shape: [432] } },
    { result: { ...own!.result, elementType: 'i32' } },
  ])
    expect(isStepProduct({ ...own, ...change }), JSON.stringify(change)).toBe(false);
});

const loops: [as: Required<Loop>['as'], rows: number, columns: number][] = [
  ['transposed', 1, 144],
  ['vector', 1, 144],
  ['matrix', 3, 144],
  ['row', 1, 144],
  ['transposed', 3, 144],
  ['transposed', 1, 130],
  ['vector', 1, 130],
];
test.each(casesOfTier(loops, 2))(
  'the products of all steps are one before the loop: %s, %i rows, %i columns',
  async (as, rows, columns) => {
    const text = recurrent({ as, rows, columns });
    const choices = chooseForms(read(text));
    expect(choices.map(({ form }) => form)).toEqual(['all-steps-at-once']);
    const [before, loop] = (await preprocessed(text, choices)).split('scf.for') as [string, string];
    expect(before).toMatch(/linalg\.(?:matmul|generic)/);
    expect(loop).not.toMatch(/linalg\.(?:matmul|vecmat|transpose)|mulf/);
    const shapes = [
      [STEPS * rows, 128],
      as === 'vector' ? [columns] : [rows, columns],
      as === 'transposed' ? [1, columns, 128] : [1, 128, columns],
    ];
    const valueAt = (i: number, at: number) => ((i * 7 + at) % 11) - 5;
    const { written, formed } = await resultsOf(text, choices, shapes, valueAt);
    expect(formed).toEqual(written);
    const strips = chooseForms(read(text), { f32: '6x16' });
    expect(strips.map(({ form }) => form)).toEqual(['all-steps-at-once-6x16']);
    expect((await resultsOf(text, strips, shapes, valueAt, HOST)).formed).toEqual(written);
  },
);
