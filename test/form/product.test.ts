import { parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import { chooseForms } from '../../src/form/choose.ts';
import { isProduct, readProducts } from '../../src/form/product.ts';
import { isRewritable, rewritableKey } from '../../src/form/rewritable.ts';
import { HOST, preprocessed, resultsOf } from './support.ts';
import { casesOfTier } from '../support/needs.ts';

/** A linear layer: the product of the argument with transposed weights. */
const layer = (weights = 'arith.constant dense<0.5> : tensor<130x128xf32>', columns = 130) => `
func.func @main(%x: tensor<4x128xf32>, %into: tensor<4x${columns}xf32>, %other: tensor<${columns}x128xf32>) -> tensor<4x${columns}xf32> {
  %w = ${weights}
  %none = tensor.empty() : tensor<128x${columns}xf32>
  %t = linalg.transpose ins(%w : tensor<${columns}x128xf32>) outs(%none : tensor<128x${columns}xf32>) permutation = [1, 0]
  %p = linalg.matmul ins(%x, %t : tensor<4x128xf32>, tensor<128x${columns}xf32>) outs(%into : tensor<4x${columns}xf32>) -> tensor<4x${columns}xf32>
  return %p : tensor<4x${columns}xf32>
}
`;

const read = (text: string) => {
  const bytes = Buffer.from(text);
  return readProducts(parse(bytes).operations, bytes);
};
const varying =
  'tensor.extract_slice %other[0, 0] [130, 128] [1, 1] : tensor<130x128xf32> to tensor<130x128xf32>';

test('a product with transposed constant weights is found', () => {
  const products = read(layer());
  expect(products.map(rewritableKey)).toEqual(['linalg.matmul 4x128xf32,130x128xf32->4x130xf32']);
  expect(products.every(isRewritable)).toBe(true);
  expect(chooseForms(products).map(({ form }) => form)).toEqual(['blocks-of-weights']);
});

test('products of other values, and equal ones beside them, stay as written', () => {
  expect(read(layer(varying))).toEqual([]);
  expect(read(layer() + layer(varying).replaceAll('%', '%o'))).toEqual([]);
});

test('every field is checked, because all are written into MLIR', () => {
  const [own] = read(layer());
  for (const change of [
    { name: 'linalg.mat' },
    { factors: [own!.result] },
    { result: { shape: [4, 131], elementType: 'f32' } },
    { result: { shape: [4, 130], elementType: 'f16' } },
    { factors: own!.factors.map((one) => ({ ...one, elementType: 'i32' })) },
  ])
    expect(isProduct({ ...own, ...change }), JSON.stringify(change)).toBe(false);
});

const weights: [number, string, RegExp][] = [
  [130, 'blocks-of-weights', /barrier\.start[^]*linalg\.generic/],
  [144, 'settled-weights', /linalg\.transpose[^]*barrier\.start[^]*linalg\.matmul/],
];
test.each(casesOfTier(weights, 1))(
  'the form of %i columns has the results of the written product',
  async (columns, form, left) => {
    const own = layer(`arith.constant dense<0.5> : tensor<${columns}x128xf32>`, columns);
    const choices = chooseForms(read(own));
    expect(choices.map((one) => one.form)).toEqual([form]);
    const text = own.replace(/ {2}%w = .*\n/, '').replace('ins(%w ', 'ins(%other ');
    expect(await preprocessed(text, choices)).toMatch(left);
    const shapes = [
      [4, 128],
      [4, columns],
      [columns, 128],
    ];
    const { written, formed } = await resultsOf(text, choices, shapes, (i, at) => ((i * 7 + at) % 11) - 5);
    expect(formed).toEqual(written);
  },
);

/** A loop over five steps: each is multiplied by the transposed weights, and added to twice the sum so far. */
const recurrent = ({ rows = 1, columns = 144, weights = 'before' } = {}) => {
  const type = `tensor<${rows}x${columns}xf32>`;
  const own = `%w = tensor.extract_slice %all[0, 0, 0] [1, ${columns}, 128] [1, 1, 1] : tensor<1x${columns}x128xf32> to tensor<${columns}x128xf32>`;
  return `
func.func @main(%x: tensor<${5 * rows}x128xf32>, %initial: ${type}, %all: tensor<1x${columns}x128xf32>) -> ${type} {
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %sequence = tensor.expand_shape %x [[0, 1], [2]] output_shape [5, ${rows}, 128] : tensor<${5 * rows}x128xf32> into tensor<5x${rows}x128xf32>
  ${weights === 'before' ? own : ''}
  %last = scf.for %i = %first to %steps step %one iter_args(%sum = %initial) -> (${type}) {
    ${weights === 'inside' ? own : ''}
    %slice = tensor.extract_slice %sequence[%i, 0, 0] [1, ${rows}, 128] [1, 1, 1] : tensor<5x${rows}x128xf32> to tensor<1x${rows}x128xf32>
    %row = tensor.collapse_shape %slice [[0, 1], [2]] : tensor<1x${rows}x128xf32> into tensor<${rows}x128xf32>
    %none = tensor.empty() : tensor<128x${columns}xf32>
    %t = linalg.transpose ins(%w : tensor<${columns}x128xf32>) outs(%none : tensor<128x${columns}xf32>) permutation = [1, 0]
    %empty = tensor.empty() : ${type}
    %into = linalg.fill ins(%zero : f32) outs(%empty : ${type}) -> ${type}
    %p = linalg.matmul ins(%row, %t : tensor<${rows}x128xf32>, tensor<128x${columns}xf32>) outs(%into : ${type}) -> ${type}
    %twice = arith.addf %sum, %sum : ${type}
    %next = arith.addf %p, %twice : ${type}
    scf.yield %next : ${type}
  }
  return %last : ${type}
}
`;
};

test('a product of each step is found, if its weights and its sequence are older than the loop', () => {
  const products = read(recurrent());
  expect(products.map(rewritableKey)).toEqual(['linalg.matmul 1x128xf32,144x128xf32->1x144xf32 of 5 steps']);
  expect(products.every(isRewritable)).toBe(true);
  expect(read(recurrent({ weights: 'inside' }))).toEqual([]);
  expect(read(recurrent() + recurrent({ weights: 'inside' }))).toEqual([]);
  expect(isProduct({ ...products[0], steps: 1.5 })).toBe(false);
});

const sizes: [number, number][] = [
  [1, 144],
  [3, 144],
  [1, 130],
];
test.each(casesOfTier(sizes, 1))(
  'the products of all steps of %i rows and %i columns are one before the loop',
  async (rows, columns) => {
    const text = recurrent({ rows, columns });
    const choices = chooseForms(read(text));
    expect(choices.map(({ form }) => form)).toEqual(['all-steps-at-once']);
    const [before, loop] = (await preprocessed(text, choices)).split('scf.for') as [string, string];
    expect(before).toMatch(/linalg\.(?:matmul|generic)/);
    expect(loop).not.toMatch(/linalg\.(?:matmul|transpose)|mulf/);
    const shapes = [
      [5 * rows, 128],
      [rows, columns],
      [1, columns, 128],
    ];
    const valueAt = (i: number, at: number) => ((i * 7 + at) % 11) - 5;
    const { written, formed } = await resultsOf(text, choices, shapes, valueAt);
    expect(formed).toEqual(written);
    const strips = chooseForms(read(text), { f32: '6x16' });
    expect(strips.map(({ form }) => form)).toEqual(['all-steps-at-once-6x16']);
    expect((await resultsOf(text, strips, shapes, valueAt, HOST)).formed).toEqual(written);
  },
);
