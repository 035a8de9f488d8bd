import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/search/strategy.ts';
import {
  largestDeviation,
  median,
  ratioInterval,
  tQuantile,
  undisturbed,
  undisturbedRatio,
} from '../../src/measure/statistics.ts';

const ratios = fc.array(fc.double({ min: 0.1, max: 10, noNaN: true }), { minLength: 2, maxLength: 12 });

describe('the undisturbed time', () => {
  test.each<[number[], number]>([
    [[], NaN],
    [[3], 3],
    [[3, 2, 5], 2],
    [[6, 1, 9, 9, 3, 9, 9, 9, 9, 9], 2],
  ])('of %j is %d', (values, expected) => {
    expect(undisturbed(values)).toBe(expected);
  });

  test('stays the same if other processes double most times', () => {
    const values = Array.from({ length: 30 }, (_, i) => (i % 3 === 0 ? 1 : 2));
    expect(undisturbed(values)).toBe(1);
    expect(median(values)).toBe(2);
  });
});

describe('median', () => {
  test.each<[number[], number]>([
    [[3], 3],
    [[1, 2], 1.5],
    [[9, 1, 5], 5],
    [[4, 1, 3, 2], 2.5],
  ])('of %j is %d', (values, expected) => {
    expect(median(values)).toBe(expected);
  });
  test('of no values is NaN', () => {
    expect(median([])).toBeNaN();
  });
});

describe('the interval of a ratio', () => {
  test('contains the ratio', () => {
    fc.assert(
      fc.property(ratios, (values) => {
        const { ratio, low, high } = ratioInterval(values);
        expect(low).toBeLessThanOrEqual(ratio * (1 + 1e-12));
        expect(high).toBeGreaterThanOrEqual(ratio * (1 - 1e-12));
      }),
    );
  });
  test('of inverse ratios is the inverse interval', () => {
    const values = [1.2, 1.1, 1.3];
    const [forward, backward] = [ratioInterval(values), ratioInterval(values.map((x) => 1 / x))];
    expect(1 / backward.low).toBeCloseTo(forward.high, 12);
  });
  test('of three processes uses the t-distribution with two degrees of freedom', () => {
    // Logarithms -0.1, 0, 0.1: standard deviation 0.1, half-width 9.92484 * 0.1 / sqrt(3).
    const { ratio, high } = ratioInterval([Math.exp(-0.1), 1, Math.exp(0.1)]);
    expect(ratio).toBeCloseTo(1, 12);
    expect(Math.log(high)).toBeCloseTo((9.92484 * 0.1) / Math.sqrt(3), 6);
  });
  test('of one process is unbounded', () => {
    expect(ratioInterval([5])).toMatchObject({ low: 0, high: Infinity });
  });
});

test.each([
  [0.05, 1, 6.313752],
  [0.005, 2, 9.924843],
  [0.0005, 3, 12.923979],
  [0.005, 8, 3.355387],
  [0.0005, 12, 4.317791],
  [0.05, 15, 1.75305],
])('a probability of %d with %d degrees of freedom has t = %d', (doubt, degrees, t) => {
  expect(tQuantile(doubt, degrees)).toBeCloseTo(t, 5);
});

test('the largest deviation is from the median, in either direction', () => {
  expect(largestDeviation([2, 1.9, 2.3])).toBeCloseTo(0.15);
  expect(largestDeviation([2, 1.5, 2.3])).toBeCloseTo(0.25);
  expect(largestDeviation([3])).toBe(0);
});

describe('the ratio of undisturbed times', () => {
  const pairsOf = (count: number, first: number, second: number, disturbed = 1) => {
    const random = seededRandom(3);
    const time = (own: number) => own * (1 + 0.02 * random()) * (random() < 0.5 ? disturbed : 1);
    return Array.from({ length: count }, () => [time(first), time(second)] as const);
  };

  test('of few pairs is the ratio of ratioInterval', () => {
    const few = pairsOf(7, 3, 2);
    expect(undisturbedRatio(few)).toEqual(ratioInterval(few.map(([a, b]) => a / b)));
  });

  test('is unaffected if other processes slow down half of the times', () => {
    const pairs = pairsOf(24, 3, 2, 1.4);
    const { ratio, low, high } = undisturbedRatio(pairs);
    expect(ratio).toBeCloseTo(1.5, 1);
    expect(low).toBeGreaterThan(1.4);
    expect(high).toBeLessThan(1.6);
    const paired = ratioInterval(pairs.map(([a, b]) => a / b));
    expect(Math.log(paired.high / paired.low)).toBeGreaterThan(2 * Math.log(high / low));
  });

  test('of equal programs has 1 in its interval', () => {
    const { low, high } = undisturbedRatio(pairsOf(12, 2, 2, 1.4));
    expect(low).toBeLessThan(1);
    expect(high).toBeGreaterThan(1);
  });

  test('is deterministic', () => {
    const pairs = pairsOf(10, 3, 2, 1.4);
    expect(undisturbedRatio(pairs)).toEqual(undisturbedRatio(pairs));
  });
});
