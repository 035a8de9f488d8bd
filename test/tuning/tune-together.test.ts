// @module-tag slow
// Several searches within one budget, on a simulated machine.
import { expect, test } from 'vitest';
import type { Bench } from '../../src/tuning/bench.ts';
import { tuneTogether, type Budget, type Part } from '../../src/tuning/tune-together.ts';
import type { TuningResult } from '../../src/tuning/result.ts';
import { DEFAULT_EFFORT } from '../../src/tuning/search-job.ts';
import { programSeconds } from '../../src/tuning/tune-workloads.ts';
import { WorkloadSearch } from '../../src/tuning/workload-search.ts';
import { subjectOf } from '../store/samples.ts';
import { matmul } from '../support/workloads.ts';
import { jobOf, newStore } from './support.ts';
import { syntheticBench, type SyntheticBench } from './synthetic-bench.ts';

interface Operation {
  readonly m: number;
  readonly seconds: number;
  /** Gain of every configuration but the default. */
  readonly gain: number;
  /** Measured seconds of the operation in the program. */
  readonly programSeconds?: number;
}

/** Seconds of a batch, and of the preparation of finals. */
const BATCH = 2;
const PREPARATION = 3;

function program(
  operations: readonly Operation[],
  budgetSeconds: number,
  {
    isSlow = false,
    compileSeconds = () => 0,
    ...change
  }: Partial<Budget> & { isSlow?: boolean; compileSeconds?: (batch: number) => number } = {},
) {
  const store = newStore();
  let now = 0;
  const log: string[] = [];
  const clock = () => now;
  const tune = async () => {
    const parts = operations.map(({ m, seconds, gain, programSeconds = null }) => {
      const made = syntheticBench({ isSlow, gainOf: () => gain, defaultSeconds: () => [seconds] });
      const bench: Bench = {
        ...made,
        finalsSeconds: () => PREPARATION,
        prepareBatch: async (configurations, timeoutSeconds, modules) => {
          log.push(`compile ${m}`);
          now += compileSeconds(made.batches.length);
          const ready = await made.prepareBatch(configurations, timeoutSeconds, modules);
          log.push(`compiled ${m}`);
          return {
            time: async (timeout) => {
              if (timeout === 0) return { ...(await ready.time(0)), processes: [] };
              log.push(`time ${m}`);
              now += BATCH;
              return ready.time(timeout);
            },
          };
        },
        prepareFinals: (entry) => {
          now += PREPARATION;
          return made.prepareFinals(entry);
        },
      };
      const workloadForm = matmul(m, 256, 256);
      const job = jobOf(subjectOf(m, { workloadForm }), { budgetSeconds, clock });
      const search = new WorkloadSearch(bench, store, job);
      return { m, search, bench: made, count: 1, likelyCost: m, programSeconds };
    });
    const results = new Map<number, TuningResult | null>();
    const end = now + budgetSeconds;
    await tuneTogether<Part & { m: number }>(
      parts,
      {
        ...{ end, clock, effort: DEFAULT_EFFORT, leastSeconds: 0, compilesAtOnce: 1 },
        ...{ isAlone: parts.length === 1, ...change },
      },
      ({ m }, result) => {
        results.set(m, result);
      },
    );
    return { results, parts, seconds: now - end + budgetSeconds };
  };
  return { store, tune, log };
}

test('batches of several searches are compiled at once, and nothing is timed during a compile', async () => {
  const operations = [1, 2, 3].map((i) => ({ m: 64 * i, seconds: 0.1 * i, gain: 1.5 }));
  const { tune, log } = program(operations, 1000, { compilesAtOnce: 2 });
  const { results } = await tune();
  expect(results.size).toBe(3);
  expect(log.slice(0, 6)).toEqual([
    'compile 192',
    'compile 128',
    'compiled 192',
    'compiled 128',
    'time 192',
    'time 128',
  ]);
  for (const [i, entry] of log.entries())
    if (entry.startsWith('time')) {
      const before = log.slice(0, i);
      const count = (what: string) => before.filter((one) => one.startsWith(`${what} `)).length;
      expect(count('compile')).toBe(count('compiled'));
    }
});

const sizes = ({ batches }: SyntheticBench) => batches.map((batch) => batch.length);

test('the operation with most of the time is searched longest, and all are decided', async () => {
  const { tune } = program(
    [
      { m: 64, seconds: 0.001, gain: 1.5 },
      { m: 512, seconds: 0.1, gain: 1.5 },
      { m: 128, seconds: 0.002, gain: 1.5 },
    ],
    60,
  );
  const { results, parts, seconds } = await tune();
  const [small, large] = parts.map(({ bench }) => sizes(bench));
  expect(large!.length).toBeGreaterThan(small!.length);
  expect(large![0]).toBeGreaterThan(small![0]!);
  expect([...results.values()].map((result) => result?.evidence.ratio.toFixed(2))).toEqual(
    Array(3).fill('1.50'),
  );
  expect(seconds).toBeLessThanOrEqual(60);
});

test('each part of a program with many parts gets a short search', async () => {
  const operations = Array.from({ length: 25 }, (_, i) => ({ m: 16 * (i + 40), seconds: 0.1, gain: 0.9 }));
  const { parts } = await program(operations, 60).tune();
  const first = parts.flatMap(({ bench }) => sizes(bench).slice(0, 1));
  expect(first.length).toBeGreaterThan(20);
  // Data tiling is one of them.
  expect(Math.max(...first)).toBeLessThanOrEqual(5);
});

test.each([
  [false, 5, 15],
  [true, 1, 3],
])(
  'a decision without finals has the number of timings of the default (slow: %s)',
  async (isSlow, processes, repetitions) => {
    const operations = [64, 512].map((m) => ({ m, seconds: 0.1, gain: 0.9 }));
    const { results } = await program(operations, 1000, { isSlow }).tune();
    expect(results.get(64)!.evidence).toMatchObject({ processes, repetitions });
  },
);

test('a batch that is compiled too late is not timed, and the rest is decided within the budget', async () => {
  const operations = [{ m: 64, seconds: 0.1, gain: 1.5 }];
  const compileSeconds = (batch: number) => (batch === 2 ? 12 : 0);
  const { tune, log } = program(operations, 20, { compileSeconds });
  const { results, seconds } = await tune();
  expect(log.filter((one) => one === 'compiled 64')).toHaveLength(3);
  expect(log.filter((one) => one === 'time 64')).toHaveLength(2);
  const { configuration, evidence } = results.get(64)!;
  expect(configuration.kind).not.toBe('default');
  expect(evidence.complete).toBe(false);
  expect(seconds).toBeLessThanOrEqual(20);
});

test('after the signal to finish, no new search begins', async () => {
  const finish = new AbortController();
  const { tune } = program(
    [
      { m: 64, seconds: 0.1, gain: 1.5 },
      { m: 512, seconds: 0.5, gain: 1.5 },
    ],
    60,
    { finishEarly: finish.signal },
  );
  finish.abort();
  expect((await tune()).results.size).toBe(0);
});

test.each<[readonly string[] | undefined, number | null]>([
  [['main_dispatch_1', 'main_dispatch_3'], 0.625],
  [['main_dispatch_10', 'main_dispatch_77'], 0.25],
  [['main_dispatch_2'], null],
  [undefined, null],
])('the time of a workload in %j is the sum over its timed dispatches: %d s', (executables, expected) => {
  const seconds = new Map([
    ['main_dispatch_1_matmul_like_49x192x1152_f32', 0.5],
    ['main_dispatch_10_conv_7x7x64_f32', 0.25],
    ['main_dispatch_3', 0.125],
  ]);
  const work = executables === undefined ? {} : { executables };
  expect(programSeconds(work, seconds)).toBe(expected);
  expect(programSeconds(work, new Map())).toBeNull();
});
