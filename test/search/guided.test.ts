// A search with a prior.
import { describe, expect, test } from 'vitest';
import { boost, BOOST } from '../../src/search/boost.ts';
import { leavesOf, predict } from '../../src/search/forest.ts';
import { guidedSearch } from '../../src/search/guided.ts';
import { likeness, Trials } from '../../src/search/likeness.ts';
import type { Point, SearchSpace } from '../../src/search/space.ts';
import { seededRandom } from '../../src/search/strategy.ts';

const SIZES = [12, 12, 12, 2];

/** Base-2 logarithm of a point's time relative to the best, for a workload whose best point is near `target`. */
const slowness = (target: Point, point: Point): number =>
  point.reduce((sum, value, i) => sum + 0.04 * (value - target[i]!) ** 2, 0);

/** Features of a point: distances that have the same meaning for all workloads. */
const featuresFor = (target: Point, point: Point): number[] => point.map((value, i) => value - target[i]!);

const random = seededRandom(5);
const pointAt = (): Point => SIZES.map((size) => Math.floor(random() * size));
const TARGETS: readonly Point[] = [
  [3, 7, 2, 1],
  [8, 4, 9, 0],
  [5, 5, 6, 1],
  [10, 2, 3, 0],
];
const forest = boost(
  TARGETS.flatMap((target) =>
    Array.from({ length: 300 }, () => {
      const point = pointAt();
      return { x: featuresFor(target, point), y: Math.min(3, slowness(target, point)), weight: 1 };
    }),
  ),
  BOOST,
  seededRandom(1),
);
const DOUBT = { ofPrior: 0.3, ofTrial: 0.03 };

/** The space of a workload that the prior has not seen. Odd points are illegal. @param shift error of the prior */
function spaceOf(target: Point, shift = 0, known: readonly Point[] = []): SearchSpace {
  const values = (size: number) => Array.from({ length: size }, (_, i) => i);
  const configurationAt = (point: Point) => (point[0]! + point[1]! === 21 ? null : { point: point.join() });
  return {
    knobs: SIZES.map((size, i) => ({ name: `knob${i}`, values: values(size) })),
    starts: [...known, [0, 0, 0, 0]],
    known: known.length,
    alternatives: [],
    configurationAt,
    valuesOf: () => null,
    guide: {
      ...{ forest, doubt: DOUBT, isMeasured: false },
      featuresAt: (point) =>
        configurationAt(point) &&
        featuresFor(
          target.map((value) => value + shift),
          point,
        ),
    },
  };
}

/** Searches with batches of 16. @returns the cost of the best after each batch, and all points in order */
function search(space: SearchSpace, costAt: (point: Point) => number | null, batches = 8, seed = 1) {
  const strategy = guidedSearch(space, seededRandom(seed));
  const seen: Point[] = [];
  const best: number[] = [];
  for (let batch = 0; batch < batches; batch++) {
    const points = strategy.propose(16);
    if (points.length === 0) break;
    seen.push(...points);
    const costs = points.map(costAt);
    strategy.observe(points.map((point, i) => ({ point, cost: costs[i]! })));
    best.push(Math.min(best.at(-1) ?? Infinity, ...costs.map((cost) => cost ?? Infinity)));
  }
  return { seen, best };
}

/** The default is four times as slow as the best. */
const costFor = (target: Point) => (point: Point) => 2 ** slowness(target, point) / 4;
const TARGET: Point = [6, 8, 4, 1];

describe('a guided search', () => {
  test('is near the best after one batch, and reaches it soon', () => {
    const { best } = search(spaceOf(TARGET), costFor(TARGET));
    expect(best[0]).toBeLessThan(1.15 / 4);
    expect(best[1]).toBeLessThan(1.03 / 4);
  });

  test('corrects a wrong prior', () => {
    const { best } = search(spaceOf(TARGET, 2), costFor(TARGET));
    expect(best[0]).toBeGreaterThan(1.1 / 4);
    expect(best.at(-1)).toBeLessThan(1.03 / 4);
  });

  test('ends without an idle batch only where its prior is right', () => {
    const onKnown = (shift: number) => {
      const space = spaceOf(TARGET, shift);
      return search({ ...space, guide: { ...space.guide!, isMeasured: true } }, costFor(TARGET));
    };
    const right = onKnown(0);
    expect(right.best.length).toBeLessThan(search(spaceOf(TARGET), costFor(TARGET)).best.length);
    expect(right.best.at(-1)).toBeLessThan(1.02 / 4);
    expect(onKnown(2).best.at(-1)).toBeLessThan(1.03 / 4);
  });

  test('proposes each legal point at most once, and respects the limit', () => {
    const { seen } = search(spaceOf(TARGET, 3), costFor(TARGET), 8);
    expect(new Set(seen.map(String)).size).toBe(seen.length);
    expect(seen.filter(([a, b]) => a! + b! === 21)).toEqual([]);
    expect(guidedSearch(spaceOf(TARGET), seededRandom(1)).propose(3)).toHaveLength(3);
  });

  test('ends when a small space is used up', () => {
    const whole = spaceOf(TARGET);
    const knobs = whole.knobs.map((knob) => ({ ...knob, values: knob.values.slice(0, 2) }));
    const { seen } = search({ ...whole, knobs }, costFor(TARGET), 100);
    expect(seen).toHaveLength(16);
  });

  test('goes on when every trial fails', () => {
    expect(search(spaceOf(TARGET), () => null).seen.length).toBeGreaterThan(32);
  });

  test('begins with the best points of earlier searches', () => {
    const known: Point = [11, 9, 11, 0];
    const strategy = guidedSearch(spaceOf(TARGET, 0, [known]), seededRandom(1));
    expect(strategy.propose(4)[0]).toEqual(known);
  });

  test('is the same for the same seed', () => {
    const run = () => search(spaceOf(TARGET, 1), costFor(TARGET), 3).seen;
    expect(run()).toEqual(run());
  });

  test('is a descent without a prior', () => {
    const { guide, ...space } = spaceOf(TARGET);
    expect(guide).toBeDefined();
    expect(guidedSearch(space, seededRandom(1)).name).toBe('descent');
  });
});

describe('a forest', () => {
  test('predicts its training data, and points with other predictions share few leaves', () => {
    const samples = Array.from({ length: 400 }, (_, i) => ({
      x: [i % 20, (i * 7) % 13],
      y: i % 20 < 10 ? 0 : 1,
      weight: 1,
    }));
    const own = boost(samples, BOOST, seededRandom(2));
    expect(predict(own, [3, 5])).toBeCloseTo(0, 1);
    expect(predict(own, [15, 5])).toBeCloseTo(1, 1);
    expect(likeness(leavesOf(own, [3, 5]), leavesOf(own, [3, 5]))).toBe(1);
    expect(likeness(leavesOf(own, [3, 5]), leavesOf(own, [15, 5]))).toBeLessThan(0.5);
  });
});

test('trials change the predictions of similar points only', () => {
  const trials = new Trials({ ofPrior: 1, ofTrial: 0.1 });
  const [a, b] = [Uint16Array.from([1, 2, 3, 4]), Uint16Array.from([5, 6, 7, 8])];
  trials.add(a);
  const solved = trials.solved([0.8]);
  const meanAt = (leaves: Uint16Array) =>
    trials.against(leaves).reduce((sum, one, i) => sum + one * solved[i]!, 0);
  expect(meanAt(a)).toBeCloseTo(0.8, 1);
  expect(meanAt(b)).toBe(0);
  // Two trials of one point: their mean.
  trials.add(a);
  const both = trials.solved([0.8, 0.6]);
  expect(trials.against(a).reduce((sum, one, i) => sum + one * both[i]!, 0)).toBeCloseTo(0.7, 1);
});
