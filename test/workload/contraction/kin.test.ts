import { expect, test } from 'vitest';
import { kinOf } from '../../../src/workload/workload.ts';
import { matmul } from '../../support/workloads.ts';

const areKin = (a: readonly [number, number, number], b: readonly [number, number, number]) =>
  kinOf(matmul(...a)) === kinOf(matmul(...b));

test('sizes with equal remainders are kin', () => {
  expect(areKin([128, 196, 256], [64, 196, 576])).toBe(true);
  expect(areKin([512, 3136, 64], [32, 1024, 24])).toBe(true);
});

test('sizes with other remainders are not', () => {
  expect(areKin([128, 196, 256], [128, 49, 256])).toBe(false);
  expect(areKin([128, 196, 256], [128, 784, 256])).toBe(false);
  expect(areKin([128, 196, 256], [1, 196, 256])).toBe(false);
  expect(areKin([128, 196, 256], [128, 196, 27])).toBe(false);
  expect(areKin([48, 64, 64], [64, 64, 64])).toBe(false);
});
