// What the statistics of dispatches say of configurations.
import { describe, expect, test } from 'vitest';
import type { DispatchTimes } from '../../src/measure/dispatch-times.ts';
import { comparedWorkloads, slowerWorkloads } from '../../src/program/slower.ts';

/** Milliseconds by name, and calls where that is not one. */
type Times = Readonly<Record<string, number | readonly [milliseconds: number, calls: number]>>;

const timesOf = (times: Times, factor = 1): DispatchTimes =>
  new Map(
    Object.entries(times).map(([name, value]) => {
      const [milliseconds, calls] = typeof value === 'number' ? [value, 1] : value;
      return [name, { seconds: (factor * milliseconds) / 1000, calls }];
    }),
  );

/** Pairs in which all of the tuned program takes longer or shorter by such factors. */
const pairsOf = (stock: Times, tuned: Times, noise: readonly number[] = [1, 1.01, 0.99, 1.005, 0.995]) =>
  noise.map((factor) => [timesOf(stock), timesOf(tuned, factor)] as const);

const first = 'main_dispatch_0_matmul_196x512x256_f32';
const second = 'main_dispatch_1_matmul_196x64x512_f32';
const other = 'main_dispatch_2_elementwise_196x64_f32';
const dispatches = new Map([
  ['first', [first]],
  ['second', [second]],
]);
const find = (...pairs: Parameters<typeof pairsOf>) => slowerWorkloads(pairsOf(...pairs), dispatches);

describe('a workload', () => {
  test('whose dispatch takes longer is slower, whatever the others do', () => {
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
    ['takes longer by a trifle', 1.01, [1, 1.0001, 0.9999]],
    ['is lost in noise', 1.1, [1, 1.5, 0.7]],
  ])('is not where it %s', (_, milliseconds, noise) => {
    expect(find({ [first]: 1, [second]: 1 }, { [first]: 1, [second]: milliseconds }, noise)).toEqual([]);
  });

  test('is not slower for certain where that is only just beyond noise', () => {
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
  test('are the same where they are only counted anew, but not for certain', () => {
    const anew = 'main_dispatch_9_matmul_196x64x512_f32';
    const pairs = pairsOf(
      { [first]: 1, [second]: 1 },
      { _encoding_0_encode_196x256xf32: 0.1, main_dispatch_4_mmt4d: 1, [anew]: 2 },
    );
    const found = slowerWorkloads(pairs, new Map([['second', [anew]]]));
    expect(found).toMatchObject([{ key: 'second', isCertain: false }]);
  });

  test('are the same in turn where several are called alike, whatever the others gain', () => {
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
    // Each is called another number of times: nobody knows which is which.
    const mixed = { ...tuned, main_dispatch_3_matvec: 1, main_dispatch_12_matvec: [1, 4] } as const;
    expect(comparedWorkloads(pairsOf(stock, mixed), own)).toEqual([]);
  });

  test.each([
    ['only one of them has it', { [first]: 1 }],
    ['they call it another number of times', { [first]: 1, [second]: [5, 3] }],
    [
      'two of one are one of the other',
      { [first]: 1, [second]: 5, main_dispatch_5_matmul_196x64x512_f32: 5 },
    ],
  ])('are not compared where %s', (_, tuned) => {
    expect(find({ [first]: 1, [second]: 1 }, tuned as Times)).toEqual([]);
  });

  test('are not told from each other where one holds two workloads', () => {
    const shared = new Map([
      ['first', [first]],
      ['second', [first]],
    ]);
    expect(slowerWorkloads(pairsOf({ [first]: 1 }, { [first]: 2 }), shared)).toEqual([]);
  });

  test('say nothing where nobody knows them', () => {
    expect(slowerWorkloads([], dispatches)).toEqual([]);
    expect(find({}, {})).toEqual([]);
    expect(slowerWorkloads(pairsOf({ [first]: 1 }, { [first]: 2 }), new Map([['first', []]]))).toEqual([]);
  });
});
