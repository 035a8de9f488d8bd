import { join } from 'node:path';
import { mkdirSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Toolchain } from '../../src/measure/toolchain.ts';
import { randomSearch } from '../../src/search/random.ts';
import { llvmCpu } from '../../src/backend/llvm-cpu/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import type { StrategyFactory } from '../../src/search/strategy.ts';
import { DATA_TILE_CONFIGURATION, type TileConfiguration } from '../../src/backend/llvm-cpu/configuration.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { SearchSpace } from '../../src/search/space.ts';
import type { Subject } from '../../src/store/store.ts';
import { DEFAULT_EFFORT } from '../../src/tuning/search-job.ts';
import { workloadKey, type Workload } from '../../src/workload/workload.ts';
import { coordinateDescent } from '../../src/search/descent.ts';
import { cachedCompiler } from '../stress/cached-compiler.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { hasWideVectors } from '../support/processor.ts';
import { compiler, toolchain } from '../support/real-tools.ts';
import { SPACE } from '../support/backend.ts';
import { simulatedTools } from '../support/simulated-tools.ts';
import { matmul } from '../support/workloads.ts';
import { tuneWith, type TuningJob } from './support.ts';

const shape = matmul(61, 67, 71);
const subjectOf = (form: Workload): Subject => ({
  workload: workloadKey(form),
  target: 'target',
  device: 'device',
  compiler: 'compiler',
  workloadForm: form,
  targetForm: {},
  deviceForm: {},
  compilerForm: {},
});
const subject = subjectOf(shape);
const job = (change: Partial<TuningJob> = {}): TuningJob => ({
  subject,
  backend: llvmCpu,
  options: SPACE,
  strategy: coordinateDescent,
  effort: { ...DEFAULT_EFFORT, trialsPerBatch: 6, maxTrials: 12 },
  // The number of trials ends the search, on a busy machine too.
  budgetSeconds: 120,
  clock: () => performance.now() / 1000,
  createdBy: 'test',
  ...change,
});

/** Candidates that several tests compile are compiled once. */
const real = cachedCompiler(temporaryDirectory());

/** @param executable what candidates are compiled by; what lies beside it measures them */
async function prepare(executable = real) {
  const folder = temporaryDirectory();
  const store = openSqliteStore(join(folder, 'tuning.db'));
  const workDirectory = join(folder, 'work', 'tuning-test');
  mkdirSync(workDirectory, { recursive: true });
  const beside = (name: string) => join(dirname(executable), '..', '..', '_runtime_libs', name);
  const tools: Toolchain = {
    ...(await toolchain(workDirectory)),
    compiler: executable,
    benchmarkModule: beside('iree-benchmark-module'),
    runModule: beside('iree-run-module'),
  };
  return { store, tools };
}

/** For what does not depend on what is measured. */
const prepareSimulated = () => prepare(simulatedTools(temporaryDirectory()));

describe('tuning a workload', () => {
  /** With four trials at most. */
  const tuneShortly = async ({ store, tools }: Awaited<ReturnType<typeof prepare>>) => {
    const effort = { ...DEFAULT_EFFORT, trialsPerBatch: 4, maxTrials: 4 };
    const result = await tuneWith(tools, store, job({ effort }));
    const trials = store.trials(subject);
    expect(trials.filter(({ configuration }) => configuration.kind === 'default')).toHaveLength(1);
    expect(trials).toHaveLength(result!.evidence.trials + 1);
    expect(result!.evidence.processes).toBeGreaterThanOrEqual(3);
    const [record] = store.findRecords([subject.workload], 'target', 'compiler');
    expect(record).toMatchObject({ configuration: result!.configuration, createdBy: 'test', failure: null });
    store.close();
    return { ...result!, trials };
  };

  test('keeps every trial, the default among them, and a record', async () => {
    const { evidence, trials } = await tuneShortly(await prepare());
    expect(trials.map(({ outcome }) => outcome)).toEqual(trials.map(() => 'measured'));
    // Summed in another order at most. What a busy machine shows to be no faster is not chosen, and not compared.
    expect(evidence.maxError).toBeLessThan(1e-4);
  });

  test('keeps a record that is verified and beyond doubt of what is faster', async () => {
    const { configuration, evidence } = await tuneShortly(await prepareSimulated());
    expect(configuration.kind).toBe('tile');
    expect(evidence).toMatchObject({ complete: true, maxError: 0 });
    expect(evidence.low).toBeGreaterThan(1);
  });

  test('decides with what is known when it is told to finish', async () => {
    const { store, tools } = await prepareSimulated();
    const finish = new AbortController();
    const result = await tuneWith(tools, store, {
      ...job({ effort: DEFAULT_EFFORT }),
      finishEarly: finish.signal,
      onProgress: ({ trials }) => {
        if (trials > 0) finish.abort();
      },
    });
    expect(result!.configuration.kind).toBe('tile');
    expect(result!.evidence.complete).toBe(false);
    expect(result!.evidence.trials).toBeLessThanOrEqual(DEFAULT_EFFORT.trialsPerBatch);
    store.close();
  });

  test('decides with what is known when the budget is spent', async () => {
    const { store, tools } = await prepareSimulated();
    // Every look at the clock is a second later.
    let seconds = 0;
    const clock = () => seconds++;
    const result = await tuneWith(tools, store, job({ effort: DEFAULT_EFFORT, clock, budgetSeconds: 15 }));
    expect(result!.configuration.kind).toBe('tile');
    expect(result!.evidence.complete).toBe(false);
    store.close();
    const other = await prepareSimulated();
    const unlimited = await tuneWith(other.tools, other.store, job({ effort: DEFAULT_EFFORT }));
    other.store.close();
    expect(unlimited!.evidence.complete).toBe(true);
    expect(result!.evidence.trials).toBeLessThan(unlimited!.evidence.trials);
  });

  test('begins a second search with the best of the first', async () => {
    const { store, tools } = await prepareSimulated();
    const first = await tuneWith(tools, store, job());
    const before = store.trials(subject).length;
    await tuneWith(
      tools,
      store,
      job({ strategy: randomSearch, effort: { ...DEFAULT_EFFORT, trialsPerBatch: 4, maxTrials: 4 } }),
    );
    // The default and four others.
    expect(store.trials(subject).length).toBeGreaterThanOrEqual(before + 5);
    const starts: (Configuration | null)[] = [];
    const nothing = await tuneWith(
      tools,
      store,
      job({
        strategy: (space) => {
          starts.push(...space.starts.map((point) => space.configurationAt(point) as Configuration | null));
          return { name: 'none', propose: () => [], observe: () => undefined };
        },
      }),
    );
    expect(nothing).toBeNull();
    const space = llvmCpu.spaceOf(shape, SPACE);
    const own = space.starts.map((point) => space.configurationAt(point));
    // The best four of both searches, before those that every search begins with.
    expect(starts.slice(4)).toEqual(own);
    expect(starts.slice(0, 4)).toContainEqual(first!.configuration);
    store.close();
  });

  test('gives up when the compiler cannot compile even the default', async () => {
    const { store, tools } = await prepare(compiler.executable);
    const result = await tuneWith({ ...tools, flags: ['--no-such-flag'] }, store, job());
    expect(result).toBeNull();
    expect(store.allRecords()).toEqual([]);
    const outcomes = store.trials(subject).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(Array(6).fill('compile-error'));
    store.close();
  });

  test.runIf(hasWideVectors)(
    'never keeps a configuration whose output is wrong, if only at one of several sizes',
    async () => {
      const { store, tools } = await prepare();
      const [m, ...others] = shape.dimensions;
      const dynamic: Workload = { ...shape, dimensions: [{ ...m!, sizes: [5, 61] }, ...others] };
      const subject = subjectOf(dynamic);
      // A machine that computes candidates wrongly: at the larger size the output of anything but the default has other bits.
      const liar = join(tools.workDirectory, 'liar');
      writeFileSync(
        liar,
        `#!/bin/sh
'${tools.runModule}' "$@" || exit 1
case "$*" in *--function=stock* | *_at0*) exit 0;; esac
for argument; do case $argument in --output=@*) printf '\\377' | dd of="\${argument#--output=@}" conv=notrunc bs=1 seek=2 2>/dev/null;; esac; done
`,
        { mode: 0o755 },
      );
      const result = await tuneWith(
        { ...tools, runModule: liar },
        store,
        job({ subject, effort: { ...DEFAULT_EFFORT, trialsPerBatch: 2, maxTrials: 2 } }),
      );
      expect(result!.configuration.kind).toBe('default');
      const wrong = store.trials(subject).filter(({ outcome }) => outcome === 'wrong-result');
      expect(wrong.map(({ message }) => message)).toEqual(
        Array(2).fill(expect.stringMatching(/^element 0 is /)),
      );
      store.close();
    },
  );
});

describe('tiles of packed operations', () => {
  const packable = matmul(64, 64, 64);
  const slow: TileConfiguration = {
    version: 1,
    kind: 'tile',
    distribution: [1, 1, 0],
    vectorCommonParallel: [1, 1, 0],
    vectorReduction: [0, 0, 1],
    peeling: false,
  };
  const space: SearchSpace<Configuration> = {
    knobs: [],
    starts: [],
    alternatives: [DATA_TILE_CONFIGURATION],
    configurationAt: () => slow,
    pointOf: () => null,
  };
  const backend = { ...llvmCpu, spaceOf: () => space };
  const options = { ...SPACE, following: true };
  /** Has so many points to propose, one at a time. */
  const proposing = (points: number): StrategyFactory => {
    let left = points;
    return () => ({ name: 'few', propose: () => (left-- > 0 ? [[]] : []), observe: () => undefined });
  };
  test.each([
    ['has nothing to propose', proposing(0), DEFAULT_EFFORT.maxTrials],
    ['has used up its trials', proposing(9), 1],
  ])('are tried where the strategy %s', { timeout: 300_000 }, async (_, strategy, maxTrials) => {
    const effort = { ...DEFAULT_EFFORT, maxTrials, finalists: 1 };
    const { store, tools } = await prepare();
    const own = { ...subject, workload: workloadKey(packable), workloadForm: packable };
    await tuneWith(
      tools,
      store,
      job({ subject: own, backend, options, strategy, effort, budgetSeconds: 280 }),
    );
    const packed = store
      .trials(own)
      .filter(({ configuration }) => configuration.kind === 'data-tile' && configuration.packed);
    expect(packed.map(({ outcome }) => outcome)).toContain('measured');
    expect(store.findUndecided([own.workload], own)).toEqual([]);
    expect(store.allRecords()).toHaveLength(1);
    store.close();
  });
});
