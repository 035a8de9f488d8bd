import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadBackendOfDriver } from '../../src/backend/index.ts';
import { Screener } from '../../src/tuning/screen.ts';
import { FINALS, SCREENING, Timer } from '../../src/tuning/timer.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { matmul } from '../support/workloads.ts';
import { fakeTools } from './fake-tools.ts';
import { tiles } from '../support/backend.ts';

const SHAPE = matmul(64, 64, 64);
const tiled = (n: number) => tiles([8, n, 0], [4, 8, 0], [0, 0, 1], true);
const EIGHT = [8, 16, 24, 32, 40, 48, 56, 64].map(tiled);

test('a candidate that crashes is not run again in the second placement', async () => {
  const folder = temporaryDirectory();
  const crashes = join(folder, 'crashes');
  const tools = fakeTools(folder, {
    benchmarkModule: `case "$*" in
      *--benchmark_filter=*c2*) echo x >>'${crashes}'; exit 1 ;;
      *--benchmark_filter=*) ;;
      *) echo x >>'${crashes}'; exit 1 ;;
    esac`,
  });
  const screener = new Screener(tools, SHAPE);
  const { contestants, processes, failed } = await (await screener.prepare(EIGHT, 60)).time(60);
  expect(failed).toEqual([{ configuration: EIGHT[2], outcome: 'run-error', reason: 'exit code 1' }]);
  const others = contestants.filter(({ configuration }) => configuration !== EIGHT[2]);
  for (const { defaultSeconds, seconds } of processes) {
    expect(defaultSeconds).toEqual([0.01]);
    expect([...seconds.keys()]).toEqual(others.map(({ name }) => name));
  }
  expect(processes.map(({ placement }) => placement)).toEqual(['apart', 'packed']);
  // Once with all others, and once alone to find the culprit.
  expect(readFileSync(crashes, 'utf8')).toBe('x\nx\n');
});

/** Repetitions and functions of each process, in their order. */
const processesIn = (log: string) =>
  readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => ({
      repetitions: Number(/--benchmark_repetitions=(\d+)/.exec(line)![1]),
      functions: /--benchmark_filter=BM_\((.*)\)/.exec(line)![1]!.split('|'),
    }));

test('a default that takes far longer than candidates has processes of its own, so that these are repeated', async () => {
  const folder = temporaryDirectory();
  const log = join(folder, 'log');
  const tools = fakeTools(folder, { benchmarkModule: `factor=10; echo "$*" >>'${log}'` });
  const screener = new Screener(tools, SHAPE);
  const { processes } = await (await screener.prepare([tiled(8), tiled(16)], 60)).time(60);
  expect(processesIn(log)).toEqual([
    { repetitions: 1, functions: ['stock'] },
    // Nothing is known of candidates yet.
    { repetitions: 2, functions: ['stock', 'c0', 'c1'] },
    { repetitions: 2, functions: ['stock'] },
    { repetitions: 5, functions: ['c0', 'c1'] },
  ]);
  for (const { defaultSeconds, seconds } of processes)
    expect([defaultSeconds, ...seconds.values()]).toEqual([[0.1], [0.01], [0.01]]);
});

test.each([
  ['screenings', SCREENING, 5],
  ['finals', FINALS, 3],
] as const)(
  'in five processes of %s a far slower default runs alone as often as its time tells',
  async (_, care, count) => {
    const folder = temporaryDirectory();
    const log = join(folder, 'log');
    const tools = fakeTools(folder, { benchmarkModule: `factor=10; echo "$*" >>'${log}'` });
    await new Screener(tools, SHAPE).prepare([tiled(8)], 60);
    const timer = new Timer(tools, SHAPE);
    timer.expect('stock', 0.1);
    timer.expect('c0', 0.01);
    for (let i = 0; i < 5; i++) {
      const module = { path: join(tools.workDirectory, 'batch0.vmfb'), hasDefault: true };
      const timed = await timer.time(module, ['c0'], { placement: 'apart', build: 0 }, care);
      expect([timed.defaultSeconds, timed.seconds.get('c0')]).toEqual([[0.1], [0.01]]);
    }
    expect(processesIn(log).filter(({ functions }) => functions.join() === 'stock')).toHaveLength(count);
  },
);

test(
  'a batch ends at its limit, however many candidates hang',
  { tags: 'full', timeout: 30_000 },
  async () => {
    const folder = temporaryDirectory();
    const hangs = join(folder, 'hangs');
    const tools = fakeTools(folder, {
      benchmarkModule: `case "$*" in *--benchmark_filter=*c[2-7]*) echo x >>'${hangs}'; exec sleep 60 ;; esac`,
    });
    const screener = new Screener(tools, SHAPE);
    const ready = await screener.prepare(EIGHT, 60, 2);
    const { processes, failed } = await ready.time(8);
    // In each of two modules the first process hangs, and then one candidate.
    expect(readFileSync(hangs, 'utf8').length).toBeLessThanOrEqual('x\n'.length * 4);
    expect(processes.flatMap(({ seconds }) => [...seconds.keys()])).toEqual(['c0', 'c1']);
    expect(failed).toEqual([]);
  },
);

test('candidates that are far behind are timed once', async () => {
  const folder = temporaryDirectory();
  const log = join(folder, 'log');
  const slow = String.raw`s|("BM_c[2-7]/x","run_type":"iteration","real_time":)1|\19|g`;
  const tools = fakeTools(folder, {
    benchmarkModule: `echo "$*" >>'${log}'
[ -n "$again" ] || { again=1 "$0" "$@" | sed -E '${slow}'; exit; }`,
  });
  const screener = new Screener(tools, SHAPE);
  const { processes } = await (await screener.prepare(EIGHT, 60)).time(60);
  expect(processes.map(({ seconds }) => seconds.size)).toEqual([8, 4]);
});

test('on a GPU candidates first run alone: one that crashes or has another result is not timed', async () => {
  await loadBackendOfDriver('cuda');
  const folder = temporaryDirectory();
  const log = join(folder, 'log');
  const own = fakeTools(folder, {
    benchmarkModule: `echo "$*" >>'${log}'`,
    runModule: 'case "$*" in *--function=c0*) exit 1 ;; esac',
    afterRun: 'case "$*" in *--function=c2*) printf 87654321 >"$output" ;; esac',
  });
  const device = { ...own.device, driver: 'cuda', gpu: { version: '', subgroup: 32, isSoftware: false } };
  const screener = new Screener({ ...own, device }, SHAPE);
  const configurations = EIGHT.slice(0, 4);
  const { processes, failed } = await (await screener.prepare(configurations, 60)).time(60);
  expect(failed.map(({ configuration }) => configuration)).toEqual([configurations[0], configurations[2]]);
  expect(failed.map(({ outcome }) => outcome)).toEqual(['run-error', 'run-error']);
  expect(processesIn(log).map(({ functions }) => functions.join())).toEqual([
    'stock',
    ...processes.map(() => 'stock,c1,c3'),
  ]);
});
