import { expect, test } from 'vitest';
import { contractionFlops } from '../../../src/workload/contraction/contraction.ts';
import { likelyCost } from '../../../src/workload/contraction/traffic.ts';
import type { OperationWork } from '../../../src/workload/workload.ts';
import { convolution, matmul, workload } from '../../support/workloads.ts';

test('what waits for its operands costs more than what it does with them', () => {
  const vector = workload({ n: 1000, k: 1024 });
  // 2 MFLOP, for which 4 MB are read.
  expect(likelyCost(vector)).toBeGreaterThan(4 * contractionFlops(vector));
  // As much work again from operands that stay in the caches.
  expect(likelyCost(vector)).toBeGreaterThan(likelyCost(matmul(196, 48, 120)));
});

test('where much is done with every operand, the work is what counts', () => {
  const square = matmul(1024, 1024, 1024);
  expect(likelyCost(square) / contractionFlops(square)).toBeCloseTo(1, 1);
});

/** In operations on numbers for each that is needed. */
const effortOf = (work: OperationWork) => likelyCost(work) / contractionFlops(work);

test.each([
  ['several channels', 64, 14, 28],
  ['each channel', null, 7, 14],
])(
  'a filter of %s over an image that no tile divides is likely to be scalar code',
  (_, inputs, image, other) => {
    const dividable = effortOf(convolution(other, 64, inputs));
    expect(effortOf(convolution(image, 64, inputs))).toBeGreaterThan(10 * dividable);
  },
);
