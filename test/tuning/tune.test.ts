import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { textAfter } from '../../src/measure/build.ts';
import { randomSearch } from '../../src/search/random.ts';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { userName } from '../../src/store/author.ts';
import type { StrategyFactory } from '../../src/search/strategy.ts';
import { DATA_TILE_CONFIGURATION } from '../../src/backend/llvm-cpu/configuration.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { SearchSpace } from '../../src/search/space.ts';
import { DEFAULT_EFFORT } from '../../src/tuning/search-job.ts';
import { GUARD_BYTES } from '../../src/workload/fillers.ts';
import { workloadKey, type OperationWork } from '../../src/workload/workload.ts';
import { subjectOf } from '../store/samples.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { toolchain } from '../support/real-tools.ts';
import { SPACE, tiles } from '../support/backend.ts';
import { matmul, withSizes } from '../support/workloads.ts';
import {
  jobOf,
  newStore,
  realClock,
  simulatedToolchain,
  tuneWith,
  tuneWorkload,
  type TuningJob,
} from './support.ts';
import { syntheticBench } from './synthetic-bench.ts';

const shape = matmul(61, 67, 71);
const subjectFor = (form: OperationWork) =>
  subjectOf(61, { workload: workloadKey(form), workloadForm: form });
const subject = subjectFor(shape);
const job = (change: Partial<TuningJob> = {}) =>
  jobOf(subject, {
    effort: { ...DEFAULT_EFFORT, trialsPerBatch: 6, maxTrials: 12 },
    // The number of trials ends the search, on a busy machine too.
    ...{ budgetSeconds: 120, clock: realClock },
    ...change,
  });

const realTools = () => toolchain(temporaryDirectory());

/** All tiles are 1.5 times as fast as the default. */
const bench = () => syntheticBench({ gainOf: ({ kind }) => (kind === 'tile' ? 1.5 : 1) });

describe('tuning a workload', () => {
  test('keeps every trial, with that of the default, and a verified record', async () => {
    const tools = await realTools();
    const store = newStore();
    // With a workgroup for each element the default is many times slower than tiles, on every machine and under any load.
    const flags = [...tools.flags, '--iree-llvmcpu-distribution-size=1'];
    const effort = { ...DEFAULT_EFFORT, trialsPerBatch: 2, maxTrials: 2 };
    const { configuration, evidence } = (await tuneWith({ ...tools, flags }, store, job({ effort })))!;
    const trials = store.trials(subject);
    expect(trials.map((trial) => trial.configuration.kind)).toEqual(['default', 'tile', 'tile']);
    expect(trials.map(({ outcome }) => outcome)).toEqual(trials.map(() => 'measured'));
    expect(configuration.kind).toBe('tile');
    expect(evidence.trials).toBe(2);
    expect(evidence.processes).toBeGreaterThanOrEqual(3);
    expect(evidence.low).toBeGreaterThan(1);
    // Only the order of summation differs.
    expect(evidence.maxError).toBeLessThan(1e-4);
    const [record] = store.findRecords([subject.workload], subject.target, subject.compiler);
    expect(record).toMatchObject({ configuration, createdBy: userName(), failure: null });
  });

  test('decides by the trials so far after the signal to finish', async () => {
    const finish = new AbortController();
    const result = await tuneWorkload(bench(), newStore(), {
      ...job({ effort: DEFAULT_EFFORT }),
      finishEarly: finish.signal,
      onProgress: ({ trials }) => {
        if (trials > 0) finish.abort();
      },
    });
    expect(result!.configuration.kind).toBe('tile');
    expect(result!.evidence.complete).toBe(false);
    expect(result!.evidence.trials).toBeLessThanOrEqual(DEFAULT_EFFORT.trialsPerBatch);
  });

  test('decides by the trials so far when the budget is spent', async () => {
    // Each call of the clock advances it by a second.
    let seconds = 0;
    const clock = () => seconds++;
    const result = await tuneWorkload(
      bench(),
      newStore(),
      job({ effort: DEFAULT_EFFORT, clock, budgetSeconds: 15 }),
    );
    expect(result!.configuration.kind).toBe('tile');
    expect(result!.evidence.complete).toBe(false);
    const unlimited = await tuneWorkload(bench(), newStore(), job({ effort: DEFAULT_EFFORT }));
    expect(unlimited!.evidence.complete).toBe(true);
    expect(result!.evidence.trials).toBeLessThan(unlimited!.evidence.trials);
  });

  test('begins a second search with the best of the first', async () => {
    const store = newStore();
    const tune = (change: Partial<TuningJob> = {}) => tuneWorkload(bench(), store, job(change));
    const first = await tune();
    const before = store.trials(subject).length;
    await tune({
      strategy: randomSearch,
      effort: { ...DEFAULT_EFFORT, trialsPerBatch: 4, maxTrials: 4 },
    });
    // The default and four others.
    expect(store.trials(subject).length).toBeGreaterThanOrEqual(before + 5);
    const starts: (Configuration | null)[] = [];
    const nothing = await tune({
      strategy: (space) => {
        starts.push(...space.starts.map((point) => space.configurationAt(point) as Configuration | null));
        return { name: 'none', propose: () => [], observe: () => undefined };
      },
    });
    expect(nothing).toBeNull();
    const space = llvmCpu.tuning(shape).space(SPACE);
    const own = space.starts.map((point) => space.configurationAt(point));
    // The best four of both searches come before the starts of the space.
    expect(starts.slice(4)).toEqual(own);
    expect(starts.slice(0, 4)).toContainEqual(first!.configuration);
  });

  test('gives up when the compiler cannot compile even the default', async () => {
    const store = newStore();
    const result = await tuneWith({ ...(await realTools()), flags: ['--no-such-flag'] }, store, job());
    expect(result).toBeNull();
    expect(store.allRecords()).toEqual([]);
    const outcomes = store.trials(subject).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(Array(6).fill('compile-error'));
  });

  test('never keeps a configuration whose output is wrong, if only at one of several sizes', async () => {
    const store = newStore();
    const tools = await simulatedToolchain();
    const dynamic = withSizes(shape, 5, 61);
    const subject = subjectFor(dynamic);
    // At the larger size it changes the output of every function but the default's.
    const liar = join(tools.workDirectory, 'liar');
    writeFileSync(
      liar,
      `#!/bin/sh
'${tools.runModule}' "$@" || exit 1
case "$*" in *--function=stock* | *_at0*) exit 0;; *_guarded*) at=${GUARD_BYTES + 2};; *) at=2;; esac
for argument; do case $argument in --output=@*) printf '\\377' | dd of="\${argument#--output=@}" conv=notrunc bs=1 seek=$at 2>/dev/null;; esac; done
`,
      { mode: 0o755 },
    );
    const change = { subject, effort: { ...DEFAULT_EFFORT, trialsPerBatch: 2, maxTrials: 2 } };
    const result = await tuneWith({ ...tools, runModule: liar }, store, job(change));
    expect(result!.configuration.kind).toBe('default');
    const wrong = store.trials(subject).filter(({ outcome }) => outcome === 'wrong-result');
    expect(wrong.map(({ message }) => message)).toEqual(
      Array(2).fill(expect.stringMatching(/^element 0 is /)),
    );
    // With correct outputs the same search keeps tiles.
    const honest = await tuneWith(tools, newStore(), job(change));
    expect(honest!.configuration.kind).toBe('tile');
  });
});

describe('tiles of packed operations', () => {
  const packable = matmul(64, 64, 64);
  const slow = tiles([1, 1, 0], [1, 1, 0], [0, 0, 1]);
  const own = subjectFor(packable);
  const space: SearchSpace<Configuration> = {
    knobs: [],
    starts: [],
    alternatives: [DATA_TILE_CONFIGURATION],
    configurationAt: () => slow,
    valuesOf: () => null,
  };
  const backend = { ...llvmCpu, tuning: () => ({ ...llvmCpu.tuning(packable), space: () => space }) };
  const options = { ...SPACE, following: true };
  /** A strategy that proposes this number of points, one at a time. */
  const proposing = (points: number): StrategyFactory => {
    let left = points;
    return () => ({ name: 'few', propose: () => (left-- > 0 ? [[]] : []), observe: () => undefined });
  };
  test.each([
    ['has nothing to propose', proposing(0), DEFAULT_EFFORT.maxTrials],
    ['has used up its trials', proposing(9), 1],
  ])('are tried where the strategy %s', async (_, strategy, maxTrials) => {
    const store = newStore();
    const tools = await realTools();
    const effort = { ...DEFAULT_EFFORT, maxTrials, finalists: 1 };
    // The real compiler packs. Only timings are simulated.
    const packing = {
      ...syntheticBench({ gainOf: ({ kind }) => (kind === 'data-tile' ? 2 : 0.1) }),
      textAfter: (configuration: Configuration, phase: string) =>
        textAfter(tools, packable, configuration, phase),
    };
    await tuneWorkload(packing, store, job({ subject: own, backend, options, strategy, effort }));
    const packed = store
      .trials(own)
      .filter(({ configuration }) => configuration.kind === 'data-tile' && configuration.packed);
    expect(packed.map(({ outcome }) => outcome)).toContain('measured');
    expect(store.findUndecided([own.workload], own)).toEqual([]);
    expect(store.allRecords()).toHaveLength(1);
  });
});
