import { expect, test } from 'vitest';
import { contractionFlops } from '../../../src/workload/contraction/contraction.ts';
import { likelyCost } from '../../../src/workload/contraction/traffic.ts';
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

test.each([64, null])(
  'a filter over an image that no tile divides is scalar code, for %s channels',
  (inputs) => {
    const [even, odd] = [convolution(16, 64, inputs), convolution(17, 64, inputs)];
    expect(likelyCost(odd) / contractionFlops(odd)).toBeGreaterThan(
      10 * (likelyCost(even) / contractionFlops(even)),
    );
  },
);
