// When the timing of two programs may end.
import { expect, test } from 'vitest';
import { isComparedWith, isEitherFarAhead, isEitherFaster } from '../../src/program/answered.ts';

const gains = (...ratios: readonly number[]) => ratios.map(Math.log);

test('a gain of 14% and a loss of 25% end the timing after a few pairs', () => {
  expect(isEitherFaster(gains(1.14, 1.15, 1.13))).toBe(false);
  expect(isEitherFaster(gains(1.14, 1.15, 1.13, 1.15))).toBe(true);
  expect(isEitherFaster(gains(0.75, 0.76, 0.74, 0.75))).toBe(false);
  expect(isEitherFaster(gains(0.75, 0.76, 0.74, 0.75, 0.75))).toBe(true);
  expect(isEitherFaster(gains(0.75, 0.9, 0.6, 0.99, 0.7))).toBe(false);
});

test('two equally fast programs are timed to the end', () => {
  const noise = [1.01, 0.99, 1.02, 0.98, 1, 1.01, 0.99, 1, 1.02, 0.98, 1, 1, 0.99, 1.01, 1, 1];
  for (let count = 0; count <= noise.length; count++)
    expect(isEitherFaster(gains(...noise.slice(0, count)))).toBe(false);
});

test('one pair is enough for a gain of 4x, and for a loss that marks nothing', () => {
  expect(isEitherFaster(gains(4))).toBe(true);
  expect(isEitherFaster(gains(0.2))).toBe(false);
  expect(isEitherFarAhead(gains(0.2))).toBe(true);
  expect(isEitherFarAhead(gains(2))).toBe(false);
});

test('a gain is compared with a given ratio instead of 1', () => {
  const isAnswered = isComparedWith(1.5);
  expect(isAnswered(gains(1.5, 1.56, 1.52))).toBe(false);
  expect(isAnswered(gains(1.2, 1.21, 1.19, 1.2))).toBe(true);
  // As fast as stock: surely no better than the program, and the verdict on it needs more pairs.
  expect(isAnswered(gains(0.98, 1.01, 0.97, 1))).toBe(false);
  expect(isAnswered(gains(2.2, 2.21, 2.19))).toBe(true);
});
