import { expect, test } from 'vitest';
import { contractionFlops } from '../../../src/workload/contraction/contraction.ts';
import { likelyCost } from '../../../src/workload/contraction/traffic.ts';
import type { OperationWork } from '../../../src/workload/workload.ts';
import { convolution, matmul, workload } from '../../support/workloads.ts';

test('a workload that is bound by memory costs more than its arithmetic', () => {
  const vector = workload({ n: 1000, k: 1024 });
  // 2 MFLOP and 4 MB of reads.
  expect(likelyCost(vector)).toBeGreaterThan(4 * contractionFlops(vector));
  // The same work on operands that stay in the caches.
  expect(likelyCost(vector)).toBeGreaterThan(likelyCost(matmul(196, 48, 120)));
});

test('a workload with much arithmetic per byte costs its arithmetic', () => {
  const square = matmul(1024, 1024, 1024);
  expect(likelyCost(square) / contractionFlops(square)).toBeCloseTo(1, 1);
});

/** Estimated cost divided by the arithmetic operations. */
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
