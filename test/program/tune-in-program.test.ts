import { expect, test } from 'vitest';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { Contender } from '../../src/program/rounds.ts';
import { NOT_MEASURED, type ProgramsRun } from '../../src/program/runs.ts';
import {
  tuneInRounds,
  type RoundBench,
  type RoundModule,
  type RoundsOptions,
  type RoundsVariant,
} from '../../src/program/tune-in-program.ts';
import { sumOf } from '../../src/measure/statistics.ts';
import { coordinateDescent } from '../../src/search/descent.ts';
import { line, tileOf } from './line.ts';

const contender = (key: string): Contender => ({ key, kin: key, space: line(6), share: 1 / 3 });
const contenders = ['a', 'b', 'c'].map(contender);

interface Machine extends Partial<Pick<RoundsOptions, 'budgetSeconds' | 'roundsAtOnce'>> {
  /** Whether the program's second call is slower with this configuration. */
  readonly isSlowerIn2nd?: (key: string, configuration: Configuration) => boolean;
  /** Default time over the configuration's time. */
  readonly gainOf?: (key: string, configuration: Configuration) => number;
  readonly failureOf?: (key: string, configuration: Configuration) => RoundModule | null;
  /** Seconds of a compile. */
  readonly seconds?: number;
  readonly missing?: readonly string[];
  /** Name of the program without configurations of rounds. */
  readonly name?: string;
  readonly keys?: readonly string[];
  /** Workloads whose best configuration is wrong alone. */
  readonly wrong?: readonly string[];
  /** Expected seconds of a compile. */
  readonly compileSeconds?: number;
  readonly isSampled?: boolean;
  /** Shares of the workloads in the time of the program. */
  readonly shares?: readonly number[];
  /** By module: time of the whole program over the sum of its workloads' times. */
  readonly wholes?: Readonly<Record<string, number>>;
}

/** A simulated bench with a log of its calls. Only compiles advance the clock. */
function machine({
  gainOf = bestGains,
  failureOf = () => null,
  seconds = 1,
  missing = [],
  name = 'stock',
  keys = ['a', 'b', 'c'],
  wholes = {},
  isSlowerIn2nd = () => false,
  wrong = [],
  compileSeconds = 0,
  isSampled = false,
  ...given
}: Machine = {}) {
  let now = 0;
  const confirmed: string[][] = [];
  const confirmingSeconds: number[] = [];
  /** By module: gains of the workloads in two calls. */
  const gains = new Map<string, ReadonlyMap<string, readonly [number, number]>>();
  let compiles = 0;
  const noted: (readonly [key: string, tile: number, ratio: number | null])[] = [];
  const bench: RoundBench = {
    isSampled,
    foresee: () => undefined,
    stock: name,
    compileSeconds,
    keys: new Set(keys),
    confirmingSeconds: 2,
    compile(assignment) {
      now += seconds;
      compiles++;
      const failure = [...assignment].map(([key, one]) => failureOf(key, one)).find((one) => one !== null);
      if (failure) return Promise.resolve(failure);
      const module = `${name} ${compiles}`;
      const gainsOf = (key: string, one: Configuration) =>
        [gainOf(key, one), isSlowerIn2nd(key, one) ? 0.5 : gainOf(key, one)] as const;
      gains.set(module, new Map([...assignment].map(([key, one]) => [key, gainsOf(key, one)])));
      return Promise.resolve({ module, failed: new Set(missing) });
    },
    time: (modules) =>
      Promise.resolve(
        modules.map((module) => {
          const own = gains.get(module);
          const secondsOf = (key: string) => (own?.get(key) ?? [1, 1]).map((gain) => 1 / gain);
          const workloads = new Map(contenders.map(({ key }) => [key, secondsOf(key)]));
          return { whole: sumOf([...workloads.values()].flat()) * (wholes[module] ?? 1), workloads };
        }),
      ),
    check: (best) =>
      Promise.resolve(
        new Map(
          [...best.keys()]
            .filter((key) => wrong.includes(key))
            .map((key) => [key, { outcome: 'wrong-result', reason: 'x' }]),
        ),
      ),
    confirm(best, given) {
      confirmingSeconds.push(given);
      confirmed.push(tilesOf(best));
      const runs: ProgramsRun = {
        compare: () => Promise.resolve({ results: 'equal', why: null }),
        slower: () => Promise.resolve([]),
        ratio: () => Promise.resolve(1),
        measured: () => NOT_MEASURED,
      };
      return Promise.resolve(runs);
    },
  };
  const options: RoundsOptions = {
    ...{ budgetSeconds: 1000, roundsAtOnce: 2, ...given },
    strategy: coordinateDescent,
    clock: () => now,
    given: new Map(),
    onProgress() {},
    note(assignment, outcomes) {
      for (const [key, one] of assignment) {
        const ratio = outcomes.get(key);
        if (ratio !== undefined) noted.push([key, tileOf(one), ratio]);
      }
    },
  };
  return { bench, options, confirmed, confirmingSeconds, noted, compiles: () => compiles };
}

const best: Readonly<Record<string, number>> = { a: 5, b: 2, c: 0 };
const bestGains = (key: string, configuration: Configuration) =>
  tileOf(configuration) === best[key] ? 3 : 0.9;

/** Tunes the workloads on a machine. @returns the result, and the log of the machine */
async function tuned(on: Machine = {}, variant: RoundsVariant | null = null) {
  const { bench, options, compiles, ...log } = machine(on);
  const all = contenders.map((one, i) => ({ ...one, share: on.shares?.[i] ?? one.share }));
  return { ...(await tuneInRounds(all, bench, variant, options)), ...log, compiled: compiles() };
}

const tilesOf = (found: ReadonlyMap<string, Configuration>) =>
  [...found].map(([key, one]) => `${key}${tileOf(one)}`);

/** A variant with other configurations of these workloads. */
const variantOf = (
  keys: readonly string[],
  prepare: RoundsVariant['prepare'],
  isLikely = false,
): RoundsVariant => ({ keys: new Set(keys), isLikely, prepare });

test('a configuration that is wrong alone is not confirmed, and the others are', async () => {
  const { confirmed, found, refused } = await tuned({ wrong: ['a'] });
  expect(confirmed).toEqual([['b2']]);
  expect([...found.keys()]).toEqual(['b']);
  expect([...refused.keys()]).toEqual(['a']);
});

test('the program confirms the best of each workload that has a gain', async () => {
  const { confirmed, found, rounds, stock } = await tuned();
  expect(tilesOf(found)).toEqual(['a5', 'b2']);
  expect(confirmed).toEqual([['a5', 'b2']]);
  expect(rounds).toBe(6);
  // Each batch of rounds times stock.
  expect(stock.get('c')).toHaveLength(3);
});

test('a configuration that slows one call down is not chosen', async () => {
  const isSlowerIn2nd = (key: string, one: Configuration) => key === 'a' && tileOf(one) === best['a'];
  const { found, noted } = await tuned({ isSlowerIn2nd });
  expect([...found.keys()]).toEqual(['b']);
  expect(noted).toContainEqual(['a', 5, 0.5]);
});

test('only the blamed configuration of a failed round is not tried again', async () => {
  const failureOf = (key: string, configuration: Configuration) =>
    key === 'c' && tileOf(configuration) === 2 ? { module: null, failed: new Set(['c']) } : null;
  const { found, noted } = await tuned({ failureOf });
  expect(noted.filter(([key, tile]) => key === 'c' && tile === 2)).toEqual([['c', 2, null]]);
  // The same round had the best configuration of b.
  expect(tileOf(found.get('b')!)).toBe(2);
});

test('a compile that takes too long says nothing about its configurations', async () => {
  let isLate = true;
  const failureOf = () =>
    isLate ? ((isLate = false), { module: null, failed: new Set<string>(), isLate: true }) : null;
  const { found, noted } = await tuned({ failureOf });
  expect(tilesOf(found)).toEqual(['a5', 'b2']);
  expect(noted.filter(([, , ratio]) => ratio === null)).toEqual([]);
});

test('tuning ends if the program never compiles', async () => {
  const failureOf = () => ({ module: null, failed: new Set<string>() });
  const { found, assessed, confirmed, compiled } = await tuned({ failureOf });
  expect([found.size, assessed, confirmed]).toEqual([0, null, []]);
  expect(compiled).toBe(4);
});

test('a configuration that is missing from its executable has failed', async () => {
  expect((await tuned({ missing: ['a'] })).confirmed).toEqual([['b2']]);
});

test('rounds without a gain end before the time and the configurations do', async () => {
  const large = contenders.map((one) => ({ ...one, space: line(100) }));
  const { bench, options } = machine({ gainOf: () => 1 });
  const { rounds, isComplete } = await tuneInRounds(large, bench, null, options);
  expect({ rounds, isComplete }).toEqual({ rounds: 6, isComplete: true });
});

test('no round begins without the time for the round and for confirming', async () => {
  // Two rounds take 20 s, and confirming takes one more compile and two seconds.
  expect((await tuned({ seconds: 10, budgetSeconds: 50 })).compiled).toBe(2);
});

test('confirming gets all remaining time', async () => {
  // Three pairs of rounds take 20 s each on this clock, and the last compile is expected to take as long.
  expect((await tuned({ seconds: 10, budgetSeconds: 200 })).confirmingSeconds).toEqual([120]);
  // The least time of the bench.
  expect((await tuned({ seconds: 10, budgetSeconds: 35 })).confirmingSeconds).toEqual([2]);
});

test('rounds continue with the variant if it is faster', async () => {
  const bestOfC = (key: string, one: Configuration) => (key === 'c' && tileOf(one) === 4 ? 2 : 0.9);
  const others = machine({ gainOf: bestOfC, name: 'varied', keys: ['c'] });
  const variant = variantOf(['a', 'b'], () => Promise.resolve(others.bench));
  const result = await tuned({ wholes: { varied: 0.5 } }, variant);
  expect(result.isVaried).toBe(true);
  expect([result.confirmed, others.confirmed]).toEqual([[], [['c4']]]);
  // Without other gains, the variant is confirmed alone.
  const varied = machine({ name: 'varied', keys: [] });
  const alone = variantOf(['a', 'b'], () => Promise.resolve(varied.bench));
  await tuned({ gainOf: () => 0.9, wholes: { varied: 0.5 } }, alone);
  expect(varied.confirmed).toEqual([[]]);
});

test.each([
  ['is slower', () => Promise.resolve(machine({ name: 'varied' }).bench)],
  ['does not compile', () => Promise.resolve(null)],
])('rounds continue without the variant if it %s', async (_, prepare) => {
  const { isVaried, confirmed } = await tuned({ wholes: { varied: 2 } }, variantOf(['a'], prepare));
  expect(isVaried).toBe(false);
  expect(confirmed).toEqual([['a5', 'b2']]);
});

test.each([
  [true, [1]],
  [false, [3]],
])('a variant that is likely to gain more than rounds comes first: %s', async (isLikely, expected) => {
  const { bench, options, compiles } = machine({ wholes: { varied: 2 } });
  const asked: number[] = [];
  const prepare = () => {
    asked.push(compiles());
    return Promise.resolve(machine({ name: 'varied' }).bench);
  };
  await tuneInRounds(contenders, bench, variantOf(['a'], prepare, isLikely), options);
  expect(asked).toEqual(expected);
});

test('what rounds found is confirmed in time, before a variant is tried', async () => {
  const variant = variantOf(['a'], () => Promise.reject(new Error('there is no time')));
  // One pair of rounds, two compiles to confirm, and two for the variant.
  const { isOpen, confirmed } = await tuned({ seconds: 10, budgetSeconds: 55 }, variant);
  expect([isOpen, confirmed.length]).toEqual([true, 1]);
});

test('configurations that save next to nothing are not confirmed', async () => {
  expect((await tuned({ shares: [0.3, 0.69, 0.01] })).confirmed).toEqual([['b2', 'a5']]);
  // Their search is not complete.
  const { found, unchecked } = await tuned({ shares: [0.001, 0.989, 0.01] });
  expect([[...found.keys()], [...unchecked]]).toEqual([['b'], ['a']]);
});

test('what saves little of a slow program can be much of the tuned one', async () => {
  // A program that becomes twenty times as fast; `a` takes a sixth of its time then.
  const gainOf = (key: string) => (key === 'b' ? 25 : key === 'a' ? 5 : 1);
  const { found } = await tuned({ gainOf, shares: [0.01, 0.98, 0.01] });
  expect([...found.keys()]).toEqual(['b', 'a']);
});

test.each([
  ['begins if half of its compile has the time', 6, false, 1],
  ['does not begin if half of its compile has no time', 4, false, 0],
  ['of a slow program leaves time for its check and its confirmation', 11, true, 0],
])('the first round %s', async (_, budgetSeconds, isSampled, expected) => {
  const slow = { seconds: 10, compileSeconds: 10, isSampled };
  expect((await tuned({ ...slow, budgetSeconds, roundsAtOnce: 1 })).rounds).toBe(expected);
});

test('rounds expect the time that their compiles take, not that of a compile beside others', async () => {
  const { rounds } = await tuned({ compileSeconds: 10, budgetSeconds: 20 });
  expect(rounds).toBeGreaterThan(2);
});
