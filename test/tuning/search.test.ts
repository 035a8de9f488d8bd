// @module-tag slow
// Searches on a simulated machine: trials, comparisons and decisions.
// In full after a change of src/tuning/race.ts, src/tuning/rule.ts, src/tuning/workload-search.ts.
import { describe, expect, test } from 'vitest';
import { configurationKey } from '../../src/backend/index.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import { Ranks } from '../../src/tuning/ranks.ts';
import { judge } from '../../src/tuning/rule.ts';
import { DEFAULT_EFFORT } from '../../src/tuning/search-job.ts';
import { batchOf, isSame, jobOf, newStore, squareMatmul, tuneWorkload, type TuningJob } from './support.ts';
import { subjectOf } from '../store/samples.ts';
import { alter, open, temporaryPath } from '../store/support.ts';
import { SPACE } from '../support/backend.ts';
import { matmul } from '../support/workloads.ts';
import { syntheticBench, type Machine } from './synthetic-bench.ts';

const { subject, space, first, second } = squareMatmul();
const job = jobOf(subject);

async function tune(machine: Machine, change: Partial<TuningJob> = {}) {
  const path = temporaryPath();
  const store = open(path);
  const bench = syntheticBench(machine);
  const result = await tuneWorkload(bench, store, { ...job, ...change });
  return { result: result!, bench, store, path };
}

/** Trials of all batches but the first. Each of them also times the best so far again. */
const others = (batches: readonly (readonly Configuration[])[]) =>
  batches.slice(1).reduce((sum, batch) => sum + batch.length - 1, 0);

/** One configuration has a gain, all others have none. */
const best =
  (configuration: Configuration, gain: number): Machine['gainOf'] =>
  (one) =>
    isSame(one, configuration) ? gain : 1;

test('the best so far is timed again in every batch', async () => {
  const { bench } = await tune({ gainOf: best(first, 1.5) });
  expect(bench.batches.length).toBeGreaterThan(3);
  for (const batch of bench.batches) expect(batch.filter((one) => isSame(one, first))).toHaveLength(1);
});

test('a lucky first timing hides the best neither from the search nor from the finals', async () => {
  const { bench, result } = await tune({
    gainOf: (one, occasion) => {
      if (isSame(one, first)) return 'batch' in occasion && occasion.batch === 0 ? 3 : 0.9;
      return isSame(one, second) ? 1.3 : 1;
    },
  });
  expect(result.configuration).toEqual(second);
  // The second timing has exposed the luck.
  for (const batch of bench.batches.slice(3)) expect(batch.some((one) => isSame(one, second))).toBe(true);
});

test.each([false, true])(
  'a machine that changes its speed between batches changes no rank (slow: %s)',
  async (isSlow) => {
    const { result, store } = await tune({
      isSlow,
      gainOf: best(second, 1.3),
      // Each batch is faster than the one before.
      defaultSeconds: (occasion) => ['batch' in occasion ? 0.01 / (1 + occasion.batch) : 0.01],
    });
    expect(result.configuration).toEqual(second);
    const ratios = store.trials(subject).map(({ ratio }) => ratio!);
    expect(Math.max(...ratios)).toBeCloseTo(1.3);
    expect(ratios.filter((ratio) => Math.abs(ratio - 1) > 1e-9)).toHaveLength(1);
  },
);

test('a shape without trials begins with the best configurations of near shapes', async () => {
  const { bench: alone } = await tune({ gainOf: () => 1 });
  const at = (n: number) => space.configurationAt(space.starts[0]!.with(0, n));
  const last = space.knobs[0]!.values.length - 1;
  const rare = [...Array(last + 1).keys()]
    .flatMap((n) => at(n) ?? [])
    .find((one) => !alone.batches[0]!.some((other) => isSame(one, other)))!;
  const firstBatchBeside = async (m: number, gains: Machine['gainOf']) => {
    const store = newStore();
    const near = subjectOf(m, { workloadForm: matmul(m, 256, 256) });
    const trial = { outcome: 'measured', seconds: 1, message: null, strategy: 'descent' } as const;
    store.addTrials(near, [{ ...trial, configuration: rare, ratio: 3 }]);
    const bench = syntheticBench({ gainOf: gains });
    await tuneWorkload(bench, store, job);
    return bench.batches[0]!;
  };
  const isIn = (batch: readonly Configuration[]) => batch.some((one) => isSame(one, rare));
  expect(isIn(await firstBatchBeside(512, () => 1))).toBe(true);
  // This shape is too far away.
  expect(isIn(await firstBatchBeside(8192, () => 1))).toBe(false);
});

test('the stored runs give the same decision again', async () => {
  const { result, store, bench } = await tune({ spread: 0.02, gainOf: best(second, 1.15) });
  const runs = store.runs(subject);
  const ranks = new Ranks();
  for (const [i, timed] of bench.batches.entries()) {
    const own = runs.filter(({ stage, batch }) => stage === 'search' && batch === i);
    expect(own.map(({ configuration }) => configuration)).toEqual(timed);
    ranks.observe(batchOf(timed, own[0]!.defaultSeconds, ...own.map(({ seconds }) => seconds)));
  }
  const finalists = ranks.best(DEFAULT_EFFORT.finalists).map(({ configuration }) => configuration);
  const replayed = finalists.map((finalist) =>
    judge(
      runs
        .filter(({ stage, configuration }) => stage === 'finals' && isSame(configuration, finalist))
        .map(({ placement, build, seconds, defaultSeconds }) => ({
          stratum: `${placement} ${build}`,
          gains: seconds.map((own, size) => Math.log(defaultSeconds![size]! / own)),
        })),
    ),
  );
  const { ratio, low, high } = result.evidence;
  expect(replayed).toContainEqual({ verdict: 'claim', ratio, low, high });
  expect(finalists[replayed.findIndex((one) => one.ratio === ratio)]).toEqual(result.configuration);
});

test('a search is complete after the last proposal of the strategy and all alternatives', async () => {
  const { result, bench } = await tune(
    { gainOf: () => 1.5 },
    {
      options: { ...SPACE, wholeProgram: true },
      strategy: () => ({ name: 'none', propose: () => [], observe: () => undefined }),
    },
  );
  expect(bench.batches.map((batch) => batch.map(({ kind }) => kind))).toEqual([['data-tile']]);
  expect(result.configuration.kind).toBe('data-tile');
  expect(result.evidence.complete).toBe(true);
});

describe('an unfinished search without a gain', () => {
  /** One batch. Each call of the clock advances it by a second. */
  async function begun() {
    const { store, path, ...first } = await tune({ gainOf: () => 1 });
    let seconds = 0;
    const clock = () => seconds++;
    const evidence = { ...first.result.evidence, complete: false };
    alter(path, 'UPDATE claim SET complete = 0');
    const goOn = async (machine: Machine) => {
      const bench = syntheticBench(machine);
      return { bench, result: (await tuneWorkload(bench, store, { ...job, clock }))! };
    };
    return { store, first, evidence, goOn };
  }

  test('is continued: only its best configurations are tried again, and trials and seconds add up', async () => {
    const { store, first, evidence, goOn } = await begun();
    const before = new Set(store.trials(subject).map(({ configuration }) => configurationKey(configuration)));
    const { bench, result } = await goOn({ gainOf: () => 1 });
    const again = bench.batches[0]!.filter((one) => before.has(configurationKey(one)));
    // Four seeds, and the alternatives.
    expect(again).toHaveLength(4 + space.alternatives.length);
    for (const batch of bench.batches.slice(1))
      expect(batch.filter((one) => before.has(configurationKey(one))).length).toBeLessThanOrEqual(1);
    expect(result.evidence.trials).toBe(evidence.trials + bench.batches[0]!.length + others(bench.batches));
    expect(first.result.evidence.trials).toBe(evidence.trials);
    expect(result.evidence.tuningSeconds).toBeGreaterThan(evidence.tuningSeconds + 2);
    expect(result.evidence.complete).toBe(true);
    expect(store.allRecords()).toMatchObject([{ evidence: result.evidence }]);
  });

  test('is repeated from the start if it found something, or came to its end', async () => {
    const { store } = await tune({ gainOf: () => 1 });
    const bench = syntheticBench({ gainOf: () => 1 });
    const result = await tuneWorkload(bench, store, job);
    const starts = space.starts.map((start) => configurationKey(space.configurationAt(start)!));
    const tried = bench.batches.flat().map(configurationKey);
    for (const start of starts) expect(tried).toContain(start);
    expect(result!.evidence.trials).toBe(new Set(tried).size);
  });
});

test(
  'with timings that differ by 2%, gains of 8% are found, and no gain is invented',
  { tags: 'full' },
  async () => {
    let found = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const machine = { spread: 0.02, seed };
      const { result } = await tune({ ...machine, gainOf: best(second, 1.08) });
      if (isSame(result.configuration, second)) found++;
      const nothing = await tune({ ...machine, gainOf: () => 1 });
      expect(nothing.result.configuration.kind).toBe('default');
    }
    expect(found).toBeGreaterThan(16);
  },
);
