import { describe, expect, test } from 'vitest';
import { coordinateDescent } from '../../src/search/descent.ts';
import { geneticSearch } from '../../src/search/ga.ts';
import { gridSearch } from '../../src/search/grid.ts';
import { randomSearch } from '../../src/search/random.ts';
import { annealingSearch } from '../../src/search/sa.ts';
import { boostedSearch } from '../../src/search/xgb.ts';
import { seededRandom, type StrategyFactory } from '../../src/search/strategy.ts';
import type { Point, SearchSpace } from '../../src/search/space.ts';

/** Points of one digit for each knob, such as `012 345`. */
const points = (text: string): Point[] => text.split(' ').map((digits) => Array.from(digits, Number));

const isOdd = (point: Point) => point.reduce((a, b) => a + b, 0) % 2 === 1;

/** A space of plain numbers with some illegal points. */
function space(
  sizes: readonly number[],
  starts: readonly Point[] = [],
  isIllegal: (point: Point) => boolean = isOdd,
): SearchSpace {
  const values = (size: number) => Array.from({ length: size }, (_, i) => i);
  return {
    knobs: sizes.map((size, i) => ({ name: `knob${i}`, values: values(size) })),
    starts,
    alternatives: [],
    configurationAt: (point) => (isIllegal(point) ? null : { point }),
    valuesOf: () => null,
  };
}

/** Runs a search on a synthetic cost. A null cost is a failure. */
function search(
  factory: StrategyFactory,
  of: SearchSpace,
  cost: (point: Point) => number | null,
  trials: number,
) {
  const strategy = factory(of, seededRandom(3));
  const seen: Point[] = [];
  let best = Infinity;
  while (seen.length < trials) {
    const proposed = strategy.propose(Math.min(16, trials - seen.length));
    if (proposed.length === 0) break;
    seen.push(...proposed);
    const observations = proposed.map((point) => ({ point, cost: cost(point) }));
    strategy.observe(observations);
    best = Math.min(best, ...observations.map((o) => o.cost ?? Infinity));
  }
  return { seen, best };
}

const strategies: [string, StrategyFactory][] = [
  ['descent', coordinateDescent],
  ['random', randomSearch],
  ['grid', gridSearch],
  ['ga', geneticSearch],
  ['sa', annealingSearch],
  ['xgb', boostedSearch],
];
const bowl = (target: Point) => (point: Point) =>
  1 + point.reduce((sum, value, i) => sum + (value - target[i]!) ** 2, 0);

describe.each(strategies)('%s', (_, factory) => {
  test('never proposes an illegal point, or one point twice', () => {
    const { seen } = search(factory, space([6, 6, 6], [[0, 0, 0]]), bowl([3, 3, 2]), 500);
    expect(seen.length).toBeGreaterThan(50);
    expect(new Set(seen.map(String)).size).toBe(seen.length);
    expect(seen.filter(isOdd)).toEqual([]);
  });

  test('exhausts a small space and finds its best point', () => {
    const { seen, best } = search(factory, space([4, 4]), bowl([2, 2]), 10_000);
    expect(seen.length).toBeLessThanOrEqual(8);
    expect(best).toBe(1);
  });

  test('goes on when every trial fails', () => {
    const { seen } = search(factory, space([8, 8, 8]), () => null, 64);
    expect(seen.length).toBeGreaterThan(16);
  });

  test('respects the limit', () => {
    const strategy = factory(space([9, 9, 9], points('000 222 444')), seededRandom(1));
    expect(strategy.propose(2)).toHaveLength(2);
  });

  test('is the same for the same seed', () => {
    const run = () => search(factory, space([9, 9, 9]), bowl([4, 4, 4]), 60).seen;
    expect(run()).toEqual(run());
  });
});

describe('coordinate descent', () => {
  test('measures the starts first', () => {
    const strategy = coordinateDescent(space([9, 9], points('44 00')), seededRandom(1));
    expect(strategy.propose(16)).toEqual(points('44 00'));
  });

  test('crosses inner knobs of the best starts with outer knobs of others', () => {
    const plain = space([9, 9, 9], points('115 226 337'), () => false);
    const of = { ...plain, knobs: plain.knobs.map((knob, i) => ({ ...knob, isInner: i === 2 })) };
    const strategy = coordinateDescent(of, seededRandom(1));
    // Starts with better inner parts have worse outer parts.
    const cost = ([a, b, c]: Point) => 10 * Math.abs(1 - a!) + 10 * Math.abs(1 - b!) + 8 - c!;
    strategy.observe(strategy.propose(16).map((point) => ({ point, cost: cost(point) })));
    const first = strategy.propose(2);
    expect(first).toEqual(points('225 116'));
    strategy.observe(first.map((point) => ({ point, cost: cost(point) })));
    // The rest comes in the next batch.
    expect(strategy.propose(16)).toEqual(points('335 117 336 227'));
  });

  test('finds the bottom of a bowl among three million points', () => {
    const target = [7, 3, 11, 5, 2, 8];
    const of = space([12, 12, 12, 12, 12, 12], [[0, 0, 0, 0, 0, 0]], () => false);
    expect(search(coordinateDescent, of, bowl(target), 400).best).toBe(1);
  });

  test('tries every value of a knob, also when a batch is smaller than the knob', () => {
    const of = space([40], [[0]], () => false);
    const strategy = coordinateDescent(of, seededRandom(1));
    const seen: number[] = [];
    for (let i = 0; i < 20; i++) {
      const proposed = strategy.propose(3);
      seen.push(...proposed.map(([value]) => value!));
      strategy.observe(proposed.map((point) => ({ point, cost: 1 })));
    }
    expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i));
  });

  test('leaves a lucky point for the best of the others', () => {
    const of = space([9, 9], points('44 00'), () => false);
    const strategy = coordinateDescent(of, seededRandom(1));
    strategy.observe(strategy.propose(16).map((point) => ({ point, cost: point[0] === 4 ? 1 : 2 })));
    const around = strategy.propose(4);
    expect(around).not.toEqual([]);
    for (const point of around) expect(point).toContain(4);
    strategy.observe([...around.map((point) => ({ point, cost: 5 })), { point: [4, 4], cost: 3 }]);
    const next = strategy.propose(4);
    expect(next).not.toEqual([]);
    for (const point of next) expect(point).toContain(0);
  });

  test('gets out of a trap by restarting', () => {
    // A wide valley with a floor of 10 holds the start; the true bottom is narrow and far away.
    const cost = (point: Point) => Math.min(10 + bowl([1, 1, 1])(point), bowl([10, 10, 10])(point));
    const of = space([12, 12, 12], points('000 998'), () => false);
    expect(search(coordinateDescent, of, cost, 300).best).toBe(1);
  });
});

test('a grid begins at the best guess and visits every point', () => {
  const { seen } = search(
    gridSearch,
    space([3, 2], [[1, 1]], () => false),
    () => 1,
    100,
  );
  expect(seen).toEqual(points('11 10 21 20 01 00'));
});
