// Comparison of workloads by the statistics of dispatches.
import { describe, expect, test } from 'vitest';
import type { DispatchTimes } from '../../src/backend/meter.ts';
import { comparedWorkloads, isSlower } from '../../src/program/slower.ts';

/** By the name of a dispatch: milliseconds, with the number of calls unless it is 1. */
type Times = Readonly<Record<string, number | readonly [milliseconds: number, calls: number]>>;

const timesOf = (times: Times, factor = 1): DispatchTimes =>
  new Map(
    Object.entries(times).map(([name, value]) => {
      const [milliseconds, calls] = typeof value === 'number' ? [value, 1] : value;
      return [name, { seconds: (factor * milliseconds) / 1000, calls }];
    }),
  );

/** Pairs of processes. Each factor of `noise` scales all tuned times of one pair. */
const pairsOf = (stock: Times, tuned: Times, noise: readonly number[] = [1, 1.01, 0.99, 1.005, 0.995]) =>
  noise.map((factor) => [timesOf(stock), timesOf(tuned, factor)] as const);

const first = 'main_dispatch_0_matmul_196x512x256_f32';
const second = 'main_dispatch_1_matmul_196x64x512_f32';
const other = 'main_dispatch_2_elementwise_196x64_f32';
const dispatches = new Map([
  ['first', [first]],
  ['second', [second]],
]);
const slowerWorkloads = (...program: Parameters<typeof comparedWorkloads>) =>
  comparedWorkloads(...program).filter(({ comparison }) => isSlower(comparison));
const find = (...pairs: Parameters<typeof pairsOf>) => slowerWorkloads(pairsOf(...pairs), dispatches);

describe('a workload', () => {
  test('with a slower dispatch is slower, regardless of other dispatches', () => {
    const [found, ...others] = find(
      { [first]: 2, [second]: 1, [other]: 1 },
      { [first]: 1, [second]: 1.4, [other]: 2 },
    );
    expect(others).toEqual([]);
    expect(found).toMatchObject({ key: 'second', isCertain: true });
    expect(found!.comparison.ratio).toBeCloseTo(1 / 1.4, 2);
    expect(found!.comparison.seconds[0]).toBeCloseTo(0.001);
    expect(found!.comparison.seconds[1]).toBeCloseTo(0.0014);
  });

  test.each([
    ['is faster', 0.7, [1, 1.01, 0.99]],
    ['takes as long', 1, [1, 1.01, 0.99]],
    ['takes 1% longer', 1.01, [1, 1.0001, 0.9999]],
    ['is slower within noise', 1.1, [1, 1.5, 0.7]],
  ])('is not slower if it %s', (_, milliseconds, noise) => {
    expect(find({ [first]: 1, [second]: 1 }, { [first]: 1, [second]: milliseconds }, noise)).toEqual([]);
  });

  test('that is barely slower beyond noise is not certain', () => {
    const found = find({ [second]: 1 }, { [second]: 1.04 }, [1, 1.004, 0.996, 1.006, 0.994]);
    expect(found).toMatchObject([{ key: 'second' }]);
    expect(found[0]!.comparison.high).toBeLessThan(1);
    const doubtful = find({ [second]: 1 }, { [second]: 1.04 }, [1, 1.015, 0.985, 1.01, 0.99]);
    expect(doubtful).toMatchObject([{ key: 'second', isCertain: false }]);
  });

  test('is the sum of its dispatches', () => {
    const again = 'main_dispatch_7_matmul_like_196x64x512_f32';
    const both = new Map([['both', [second, again]]]);
    const slower = (times: Times) =>
      slowerWorkloads(pairsOf({ [second]: 1, [again]: [3, 2] }, times), both).length > 0;
    expect(slower({ [second]: 1.5, [again]: [2, 2] })).toBe(false);
    expect(slower({ [second]: 0.5, [again]: [4, 2] })).toBe(true);
  });
});

describe('dispatches of both programs', () => {
  test('that differ only in their numbers match, but a loss is not certain', () => {
    const anew = 'main_dispatch_9_matmul_196x64x512_f32';
    const pairs = pairsOf(
      { [first]: 1, [second]: 1 },
      { _encoding_0_encode_196x256xf32: 0.1, main_dispatch_4_mmt4d: 1, [anew]: 2 },
    );
    const found = slowerWorkloads(pairs, new Map([['second', [anew]]]));
    expect(found).toMatchObject([{ key: 'second', isCertain: false }]);
  });

  test('match in order if several names differ only in their numbers', () => {
    const stock = {
      main_dispatch_2_matvec: [2, 4],
      main_dispatch_9_matvec: 1,
      main_dispatch_10_matvec: 3,
    } as const;
    const tuned = {
      main_dispatch_3_matvec: [1, 4],
      main_dispatch_12_matvec: 1,
      main_dispatch_13_matvec: 6,
    } as const;
    const own = new Map([
      ['first', ['main_dispatch_3_matvec']],
      ['third', ['main_dispatch_13_matvec']],
    ]);
    const compared = comparedWorkloads(pairsOf(stock, tuned), own);
    expect(compared.map(({ key, calls, comparison }) => [key, calls, comparison.ratio.toFixed(1)])).toEqual([
      ['first', 4, '2.0'],
      ['third', 1, '0.5'],
    ]);
    // The numbers of calls differ, so nothing matches.
    const mixed = { ...tuned, main_dispatch_3_matvec: 1, main_dispatch_12_matvec: [1, 4] } as const;
    expect(comparedWorkloads(pairsOf(stock, mixed), own)).toEqual([]);
  });

  test.each([
    ['only one program has the dispatch', { [first]: 1 }],
    ['the numbers of calls differ', { [first]: 1, [second]: [5, 3] }],
    [
      'two dispatches have one counterpart',
      { [first]: 1, [second]: 5, main_dispatch_5_matmul_196x64x512_f32: 5 },
    ],
  ])('are not compared if %s', (_, tuned) => {
    expect(find({ [first]: 1, [second]: 1 }, tuned as Times)).toEqual([]);
  });

  test('are not compared if two workloads share one', () => {
    const shared = new Map([
      ['first', [first]],
      ['second', [first]],
    ]);
    expect(slowerWorkloads(pairsOf({ [first]: 1 }, { [first]: 2 }), shared)).toEqual([]);
  });

  test('without times are not compared', () => {
    expect(slowerWorkloads([], dispatches)).toEqual([]);
    expect(find({}, {})).toEqual([]);
    expect(slowerWorkloads(pairsOf({ [first]: 1 }, { [first]: 2 }), new Map([['first', []]]))).toEqual([]);
  });
});
