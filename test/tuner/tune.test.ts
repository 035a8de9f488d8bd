import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { randomSearch } from '../../src/search/random.ts';
import { llvmCpuSpace } from '../../src/space/llvm-cpu.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import type { Subject } from '../../src/store/store.ts';
import { isLostInNoise, winner, type Finals } from '../../src/tuner/finals.ts';
import { acquireMeasuringLock } from '../../src/tuner/lock.ts';
import { DEFAULT_EFFORT, tuneWorkload, type TuningJob } from '../../src/tuner/tune-workload.ts';
import { workloadKey } from '../../src/workload/workload.ts';
import { coordinateDescent } from '../../src/search/descent.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { toolchain } from '../support/real-tools.ts';
import { matmul } from '../support/workloads.ts';

const shape = matmul(61, 67, 71);
const subject: Subject = {
  workload: workloadKey(shape),
  target: 'target',
  device: 'device',
  compiler: 'compiler',
  workloadForm: shape,
  targetForm: {},
  deviceForm: {},
  compilerForm: {},
};
const job = (change: Partial<TuningJob> = {}): TuningJob => ({
  subject,
  space: llvmCpuSpace(shape, { nativeVectorBytes: 16, threads: 1, dataTiling: false }),
  strategy: coordinateDescent,
  effort: { ...DEFAULT_EFFORT, trialsPerBatch: 6, maxTrials: 12 },
  // The number of trials ends the search, on a busy machine too.
  budgetSeconds: 120,
  clock: () => performance.now() / 1000,
  createdBy: 'test',
  ...change,
});

async function prepare() {
  const folder = temporaryDirectory();
  const store = openSqliteStore(join(folder, 'tuning.db'));
  return { store, tools: await toolchain(folder) };
}

describe('tuning a workload', () => {
  test('keeps every trial, the default among them, and a record that is verified and beyond doubt', async () => {
    const { store, tools } = await prepare();
    const result = await tuneWorkload(tools, store, job());
    const trials = store.trials(subject);
    expect(trials.filter(({ configuration }) => configuration.kind === 'default')).toHaveLength(1);
    // The default, and the best ones a second time.
    expect(trials.length).toBeGreaterThan(result!.evidence.trials + 1);
    expect(result!.configuration.kind).toBe('tile');
    expect(result!.evidence).toMatchObject({ maxError: 0, complete: true });
    expect(result!.evidence.low).toBeGreaterThan(1);
    expect(result!.evidence.processes).toBeGreaterThanOrEqual(3);
    const [record] = store.findRecords([subject.workload], 'target', 'compiler');
    expect(record).toMatchObject({ configuration: result!.configuration, createdBy: 'test', failure: null });
    store.close();
  });

  test('decides with what is known when it is told to finish', async () => {
    const { store, tools } = await prepare();
    const finish = new AbortController();
    const result = await tuneWorkload(tools, store, {
      ...job({ effort: DEFAULT_EFFORT }),
      finishEarly: finish.signal,
      onProgress: ({ trials }) => {
        if (trials > 0) finish.abort();
      },
    });
    expect(result!.evidence).toMatchObject({ complete: false });
    expect(result!.evidence.trials).toBeLessThanOrEqual(DEFAULT_EFFORT.trialsPerBatch);
    store.close();
  });

  test('begins a second search with the best of the first', async () => {
    const { store, tools } = await prepare();
    const first = await tuneWorkload(tools, store, job());
    const before = store.trials(subject).length;
    await tuneWorkload(
      tools,
      store,
      job({ strategy: randomSearch, effort: { ...DEFAULT_EFFORT, trialsPerBatch: 4, maxTrials: 4 } }),
    );
    expect(store.trials(subject).length).toBeGreaterThanOrEqual(before + 5);
    const seeds: string[] = [];
    await tuneWorkload(tools, store, {
      ...job({ effort: { ...DEFAULT_EFFORT, trialsPerBatch: 4, maxTrials: 4 } }),
      strategy: (space) => {
        seeds.push(...space.starts.slice(0, 4).map((point) => JSON.stringify(space.configurationAt(point))));
        return { name: 'none', propose: () => [], observe: () => undefined };
      },
    }).catch(() => null);
    expect(seeds).toContain(JSON.stringify(first!.configuration));
    store.close();
  });

  test('gives up when the compiler cannot compile even the default', async () => {
    const { store, tools } = await prepare();
    const result = await tuneWorkload({ ...tools, flags: ['--no-such-flag'] }, store, job());
    expect(result).toBeNull();
    expect(store.allRecords()).toEqual([]);
    expect(store.trials(subject).every(({ outcome }) => outcome === 'compile-error')).toBe(true);
    store.close();
  });

  test('never keeps a configuration whose output is wrong', async () => {
    const { store, tools } = await prepare();
    const { writeFileSync } = await import('node:fs');
    // A machine that computes candidates wrongly: the output of anything but the default has a flipped bit.
    const liar = join(tools.workDirectory, 'liar');
    writeFileSync(
      liar,
      `#!/bin/sh
'${tools.runModule}' "$@" || exit 1
case "$*" in *--function=stock*) exit 0;; esac
for argument; do case $argument in --output=@*) printf '\\377' | dd of="\${argument#--output=@}" conv=notrunc bs=1 seek=2 2>/dev/null;; esac; done
`,
      { mode: 0o755 },
    );
    const result = await tuneWorkload({ ...tools, runModule: liar }, store, job());
    expect(result!.configuration.kind).toBe('default');
    const wrong = store.trials(subject).filter(({ outcome }) => outcome === 'wrong-result');
    expect(wrong.length).toBeGreaterThan(0);
    expect(wrong[0]!.message).toMatch(/element 0 is/);
    store.close();
  });
});

describe('the winner of the finals', () => {
  const finalist = (ratio: number, low: number, high: number) => ({
    configuration: { version: 1, kind: 'data-tile' } as const,
    seconds: 1,
    maxError: 0,
    ratio,
    low,
    high,
    leastLow: low,
  });
  const finals = (noiseFloor: number, ...finalists: Finals['finalists'][number][]): Finals => ({
    finalists,
    wrong: [],
    defaultSeconds: 1,
    noiseFloor,
    processes: 5,
    repetitions: 15,
  });
  test('is faster than the default with its whole interval', () => {
    expect(winner(finals(0.01, finalist(1.2, 1.1, 1.3)))?.ratio).toBe(1.2);
    expect(winner(finals(0.01, finalist(1.2, 0.99, 1.4)))).toBeNull();
  });
  test('is not much slower at any size', () => {
    const loses = { ...finalist(1.5, 1.4, 1.6), leastLow: 0.9 };
    expect(winner(finals(0.01, loses))).toBeNull();
    expect(winner(finals(0.01, loses, finalist(1.2, 1.1, 1.3)))?.ratio).toBe(1.2);
    expect(winner(finals(0.01, { ...loses, leastLow: 0.99 }))?.ratio).toBe(1.5);
  });
  test('is faster by more than the noise', () => {
    expect(winner(finals(0.05, finalist(1.04, 1.03, 1.05)))).toBeNull();
  });
  test('is faster by more than one process differs from the next', () => {
    expect(winner(finals(0, finalist(1.015, 1.014, 1.016)))).toBeNull();
  });
  test('is nobody when nobody was verified', () => {
    expect(winner(finals(0.01))).toBeNull();
  });
  test('may be lost in noise, and then nothing is settled', () => {
    expect(isLostInNoise(finals(0.01, finalist(1.01, 0.99, 1.03)))).toBe(false);
    expect(isLostInNoise(finals(0.01, finalist(1.01, 0.9, 1.13)))).toBe(true);
    expect(isLostInNoise(finals(0.2, finalist(1.15, 1.1, 1.2)))).toBe(true);
    expect(isLostInNoise(finals(0.01, { ...finalist(1.5, 1.4, 1.6), leastLow: 0.9 }))).toBe(false);
    expect(isLostInNoise(finals(0.01))).toBe(false);
  });
});

describe('the measuring lock', () => {
  const never = new AbortController().signal;
  test('is held by one at a time', async () => {
    const folder = temporaryDirectory();
    const first = await acquireMeasuringLock(folder, 1, never);
    expect(await acquireMeasuringLock(folder, 0.2, never)).toBeNull();
    first!.release();
    const second = await acquireMeasuringLock(folder, 0.2, never);
    expect(second).not.toBeNull();
    second!.release();
  });

  test('ends with a holder that is killed', async () => {
    const folder = temporaryDirectory();
    const lock = join(import.meta.dirname, '..', '..', 'src', 'tuner', 'lock.ts');
    const holder = spawn(process.execPath, [
      '--conditions=source',
      '--input-type=module',
      '-e',
      `const { acquireMeasuringLock } = await import(${JSON.stringify(lock)});
       await acquireMeasuringLock(${JSON.stringify(folder)}, 5, new AbortController().signal);
       console.log('held'); setInterval(() => {}, 1000);`,
    ]);
    await once(holder.stdout, 'data');
    expect(await acquireMeasuringLock(folder, 0.1, never)).toBeNull();
    holder.kill('SIGKILL');
    await once(holder, 'close');
    const after = await acquireMeasuringLock(folder, 2, never);
    expect(after).not.toBeNull();
    after!.release();
  });
});
