import { expect, test } from 'vitest';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { Contender } from '../../src/program/rounds.ts';
import type { ProgramsRun } from '../../src/program/runs.ts';
import {
  tuneInRounds,
  type RoundBench,
  type RoundFailure,
  type RoundsOptions,
} from '../../src/program/tune-in-program.ts';
import { sumOf } from '../../src/measure/statistics.ts';
import { coordinateDescent } from '../../src/search/descent.ts';
import { line, tileOf } from './line.ts';

const contender = (key: string): Contender => ({ key, kin: key, space: line(6), share: 1 / 3 });
const contenders = ['a', 'b', 'c'].map(contender);

interface Machine {
  /** Whether a second call of the program is slower with this configuration. */
  readonly isSlowerIn2nd?: (key: string, configuration: Configuration) => boolean;
  /** How many times as fast as the default. */
  readonly gainOf: (key: string, configuration: Configuration) => number;
  readonly failureOf?: (key: string, configuration: Configuration) => RoundFailure | null;
  /** Of a compile. */
  readonly seconds?: number;
  readonly missing?: readonly string[];
  /** Of the program as it is. */
  readonly name?: string;
  readonly keys?: readonly string[];
  /** How many times as long a module takes as its workloads do. */
  readonly wholes?: Readonly<Record<string, number>>;
}

/** A machine that keeps what it was asked, and a clock that compiles move. */
function machine({
  gainOf,
  failureOf = () => null,
  seconds = 1,
  missing = [],
  name = 'stock',
  keys = ['a', 'b', 'c'],
  wholes = {},
  isSlowerIn2nd = () => false,
}: Machine) {
  let now = 0;
  const confirmed: string[][] = [];
  const confirmingSeconds: number[] = [];
  /** Of each module, what workloads gain in two calls. */
  const gains = new Map<string, ReadonlyMap<string, readonly [number, number]>>();
  let compiles = 0;
  const noted: (readonly [key: string, tile: number, ratio: number | null])[] = [];
  const bench: RoundBench = {
    stock: name,
    compileSeconds: 0,
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
      return Promise.resolve({ module, missing: new Set(missing) });
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
    confirm(best, given) {
      confirmingSeconds.push(given);
      confirmed.push([...best].map(([key, one]) => `${key}${tileOf(one)}`));
      const runs: ProgramsRun = {
        compare: () => Promise.resolve({ results: 'equal', reason: null }),
        slower: () => Promise.resolve([]),
        ratio: () => Promise.resolve(1),
        verdictsOf: () => [],
        comparedIn: () => [],
        secondsIn: () => new Map(),
        stockSecondsBeside: () => new Map(),
      };
      return runs;
    },
  };
  const options: RoundsOptions = {
    budgetSeconds: 1000,
    roundsAtOnce: 2,
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
const gainOf = (key: string, configuration: Configuration) => (tileOf(configuration) === best[key] ? 3 : 0.9);

test('the best of each workload is confirmed by the program, and what has none is not', async () => {
  const { bench, options, confirmed } = machine({ gainOf });
  const { found, rounds, stock } = await tuneInRounds(contenders, bench, null, options);
  expect([...found].map(([key, one]) => [key, tileOf(one)])).toEqual([
    ['a', 5],
    ['b', 2],
  ]);
  expect(confirmed).toEqual([['a5', 'b2']]);
  expect(rounds).toBe(6);
  // What stock takes is seen whenever something is run beside it.
  expect(stock.get('c')).toHaveLength(3);
});

test('a configuration with which one call is slower is not chosen', async () => {
  const isSlowerIn2nd = (key: string, one: Configuration) => key === 'a' && tileOf(one) === best['a'];
  const { bench, options, noted } = machine({ gainOf, isSlowerIn2nd });
  const { found } = await tuneInRounds(contenders, bench, null, options);
  expect([...found.keys()]).toEqual(['b']);
  expect(noted).toContainEqual(['a', 5, 0.5]);
});

test('a configuration that the compiler blames is not tried again, and the others of its round are', async () => {
  const failureOf = (key: string, configuration: Configuration) =>
    key === 'c' && tileOf(configuration) === 2 ? { blamed: new Set(['c']) } : null;
  const { bench, options, noted } = machine({ gainOf, failureOf });
  const { found } = await tuneInRounds(contenders, bench, null, options);
  expect(noted.filter(([key, tile]) => key === 'c' && tile === 2)).toEqual([['c', 2, null]]);
  // The very round had the best of another one.
  expect(tileOf(found.get('b')!)).toBe(2);
});

test('a program that does not compile at all is given up', async () => {
  const { bench, options, confirmed, compiles } = machine({
    gainOf,
    failureOf: () => ({ blamed: new Set() }),
  });
  const { found, assessed } = await tuneInRounds(contenders, bench, null, options);
  expect([found.size, assessed, confirmed]).toEqual([0, null, []]);
  expect(compiles()).toBe(4);
});

test('a configuration that cannot be written into its executable is worth nothing', async () => {
  const { bench, options, confirmed } = machine({ gainOf, missing: ['a'] });
  await tuneInRounds(contenders, bench, null, options);
  expect(confirmed).toEqual([['b2']]);
});

test('no round begins without the time for it, and for confirming what was found', async () => {
  const { bench, options, compiles } = machine({ gainOf, seconds: 10 });
  // Two rounds take 20 s, and confirming takes one more compile and two seconds.
  await tuneInRounds(contenders, bench, null, { ...options, budgetSeconds: 50 });
  expect(compiles()).toBe(2);
});

test('confirming gets all the time that is left', async () => {
  const { bench, options, confirmingSeconds } = machine({ gainOf, seconds: 10 });
  // Three pairs of rounds take 20 s each on this clock, and so does compiling the best, as far as anybody knows.
  await tuneInRounds(contenders, bench, null, { ...options, budgetSeconds: 200 });
  expect(confirmingSeconds).toEqual([120]);
  const spent = machine({ gainOf, seconds: 10 });
  await tuneInRounds(contenders, spent.bench, null, { ...spent.options, budgetSeconds: 35 });
  expect(spent.confirmingSeconds).toEqual([bench.confirmingSeconds]);
});

test('a program that is faster with what is offered goes on from there', async () => {
  const offered = machine({ gainOf, name: 'offered', keys: [] });
  const { bench, options, confirmed } = machine({ gainOf, wholes: { offered: 0.5 } });
  const offer = { keys: new Set(['a', 'b']), prepare: () => Promise.resolve(offered.bench) };
  const bestOfC = (key: string, one: Configuration) => (key === 'c' && tileOf(one) === 4 ? 2 : 0.9);
  const others = machine({ gainOf: bestOfC, name: 'offered', keys: ['c'] });
  const withOthers = { ...offer, prepare: () => Promise.resolve(others.bench) };
  const result = await tuneInRounds(contenders, bench, withOthers, options);
  expect(result.isOffered).toBe(true);
  expect([confirmed, others.confirmed]).toEqual([[], [['c4']]]);
  // Where nothing is found beside it, it is confirmed by itself.
  await tuneInRounds(
    contenders,
    machine({ gainOf: () => 0.9, wholes: { offered: 0.5 } }).bench,
    offer,
    options,
  );
  expect(offered.confirmed).toEqual([[]]);
});

test.each([
  ['is slower with what is offered', () => Promise.resolve(machine({ gainOf, name: 'offered' }).bench)],
  ['does not compile with it', () => Promise.resolve(null)],
])('a program that %s goes on as it is', async (_, prepare) => {
  const { bench, options, confirmed } = machine({ gainOf, wholes: { offered: 2 } });
  const result = await tuneInRounds(contenders, bench, { keys: new Set(['a']), prepare }, options);
  expect(result.isOffered).toBe(false);
  expect(confirmed).toEqual([['a5', 'b2']]);
});
