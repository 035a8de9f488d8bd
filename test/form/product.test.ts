import { parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import { chooseForms } from '../../src/form/choose.ts';
import { isProduct, readProducts } from '../../src/form/product.ts';
import { isRewritable, rewritableKey } from '../../src/form/rewritable.ts';
import { preprocessed, resultsOf } from './support.ts';
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
