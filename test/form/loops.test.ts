import { expect, test } from 'vitest';
import { chooseForms } from '../../src/form/choose.ts';
import { readLoops } from '../../src/form/loops.ts';
import { isRewritable, rewritableKey } from '../../src/form/rewritable.ts';
import { preprocessed, resultsOf } from './support.ts';

/** A loop: each step multiplies a matrix by the weights, and adds its row of the sequence. */
const loop = (steps = 21, body = '') => `
func.func @main(%sequence: tensor<${steps}x8xf32>, %weights: tensor<8x8xf32>) -> tensor<1x8xf32> {
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant ${steps} : index
  %zero = arith.constant dense<0.0> : tensor<1x8xf32>
  %last = scf.for %i = %first to %steps step %one iter_args(%sum = %zero) -> (tensor<1x8xf32>) {
    %row = tensor.extract_slice %sequence[%i, 0] [1, 8] [1, 1] : tensor<${steps}x8xf32> to tensor<1x8xf32>
    ${body}
    %p = linalg.matmul ins(%sum, %weights : tensor<1x8xf32>, tensor<8x8xf32>) outs(%row : tensor<1x8xf32>) -> tensor<1x8xf32>
    scf.yield %p : tensor<1x8xf32>
  }
  return %last : tensor<1x8xf32>
}
`;

const read = (text: string) => readLoops(Buffer.from(text));

const INNER = `%inner = scf.for %j = %first to %steps step %one iter_args(%x = %sum) -> (tensor<1x8xf32>) {
      scf.yield %x : tensor<1x8xf32>
    }`;

const operations = (count: number) =>
  Array.from({ length: count }, (_, i) => `%f${i} = linalg.fill ins(%x : f32) outs(%sum : tensor<1x8xf32>)`);

test('loops are found by the longest body, and get more steps the shorter it is', () => {
  const formOf = (text: string) =>
    chooseForms([read(text)!].filter(Boolean)).map(
      ({ operation, form }) => `${rewritableKey(operation)}: ${form}`,
    );
  expect(formOf(loop())).toEqual(['scf.for of 1 operations: unrolled-16']);
  expect(formOf(loop() + loop(9, operations(39).join('\n    ')))).toEqual([
    'scf.for of 40 operations: unrolled-8',
  ]);
  expect(formOf(loop(9, operations(200).join('\n    ')))).toEqual(['scf.for of 201 operations: unrolled-2']);
  expect(formOf(loop(9, operations(300).join('\n    ')))).toEqual([]);
});

test('loops in loops, and programs without loops, stay as written', () => {
  expect(read(loop(9, INNER))).toBeNull();
  expect(read(loop(9, INNER.replace('scf.for %j', 'scf.while (%j)')))).toBeNull();
  expect(read(loop().replaceAll('scf.for', 'scf.forall'))).toBeNull();
  expect(read('func.func @main() { return }')).toBeNull();
});

test('every field is checked', () => {
  const own = read(loop())!;
  expect(isRewritable(own)).toBe(true);
  for (const change of [{ name: 'scf.while' }, { operations: 0 }, { operations: 257 }, { operations: 1.5 }])
    expect(isRewritable({ ...own, ...change }), JSON.stringify(change)).toBe(false);
});

test.each([21, 3])('an unrolled loop over %i steps has the same results', async (steps) => {
  const choices = chooseForms([read(loop(steps))!]);
  const products = (await preprocessed(loop(steps), choices)).match(/linalg\.(?:matmul|vecmat)/g);
  // A loop with fewer steps than an iteration would have stays a loop.
  expect(products).toHaveLength(steps === 21 ? 17 : 1);
  const shapes = [
    [steps, 8],
    [8, 8],
  ];
  const { written, formed } = await resultsOf(loop(steps), choices, shapes, (i) => ((i * 7) % 5) - 2);
  expect(formed).toEqual(written);
});
