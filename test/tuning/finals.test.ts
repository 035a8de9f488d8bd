import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DATA_TILE_CONFIGURATION, type TileConfiguration } from '../../src/backend/llvm-cpu/configuration.ts';
import type { Configuration } from '../../src/backend/configuration.ts';
import type { Entry } from '../../src/tuning/bench.ts';
import { prepareFinals } from '../../src/tuning/finals.ts';
import { finalRace } from '../../src/tuning/final-race.ts';
import { Screener } from '../../src/tuning/screen.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { toolchain } from '../support/real-tools.ts';
import { matmul } from '../support/workloads.ts';
import { simulatedToolchain } from './support.ts';
import { tiles } from '../support/backend.ts';

const entryOf = (...configurations: readonly Configuration[]): Entry => ({
  finalists: configurations.map((configuration) => ({ configuration, ratio: 1 })),
  ...{ defaultSeconds: 0.01, isBrief: false },
});

/** Sums one product after the other in bf16. A bf16 sum of 1024 does not change by adding 1. */
const worse = tiles([16, 32, 0], [4, 16, 0], [0, 0, 1]);
const better: TileConfiguration = { ...worse, vectorReduction: [0, 0, 4] };

test('finals are verified, also with narrow accumulators, and timed in two builds with different orders of functions', async () => {
  const tools = await toolchain(temporaryDirectory());
  const long = matmul(32, 64, 4096, ['bf16', 'bf16', 'bf16']);
  const finals = await prepareFinals(tools, long, entryOf(DATA_TILE_CONFIGURATION, worse));
  // Another order of summation is right. Sums that round after each product are wrong.
  expect(finals!.contestants).toMatchObject([{ name: 'f0', configuration: DATA_TILE_CONFIGURATION }]);
  expect(finals!.failed).toEqual([
    {
      configuration: worse,
      outcome: 'wrong-result',
      reason: expect.stringMatching(/^element \d+ is 1024 instead of \d+$/) as string,
    },
  ]);
  for (const build of [0, 1])
    for (const placement of ['apart', 'packed'] as const) {
      const [timed] = await finals!.time(['f0'], { placement, build });
      expect(timed!.defaultSeconds).toEqual([expect.any(Number)]);
      expect([...timed!.seconds.keys()]).toEqual(['f0']);
    }
  const orderOf = (name: string) =>
    [...readFileSync(join(tools.workDirectory, `${name}.mlir`), 'utf8').matchAll(/^func.func @(\w+)\(/gm)]
      .map(([, own]) => own!)
      .filter((own) => own !== 'truth');
  expect(orderOf('finals')).toEqual(['stock', 'f0', 'f1']);
  expect(orderOf('finals_reversed')).toEqual(orderOf('finals').toReversed());
});

test.each([
  ['crashes', 'ulimit -c 0; kill -SEGV $$', 'run-error', 'ended by SIGSEGV'],
  ['stops', 'exit 3', 'run-error', 'exit code 3'],
])(
  'a finalist that %s during timing is out, and the others are measured',
  async (_, deed, outcome, reason) => {
    const tools = await simulatedToolchain();
    const benchmarkModule = join(tools.workDirectory, 'benchmark');
    // From the third process on.
    writeFileSync(
      benchmarkModule,
      `#!/bin/sh
echo run >>'${tools.workDirectory}/runs'
case "$*" in *--benchmark_filter=*f0*) [ "$(wc -l <'${tools.workDirectory}/runs')" -lt 3 ] || { ${deed}; } ;; esac
exec '${tools.benchmarkModule}' "$@"
`,
      { mode: 0o755 },
    );
    const shape = matmul(61, 67, 71);
    const finals = await prepareFinals({ ...tools, benchmarkModule }, shape, entryOf(worse, better));
    const raced = await finalRace(finals!, () => true);
    expect(raced!.failed).toEqual([{ configuration: worse, outcome, reason }]);
    expect(raced!.standings.map(({ configuration }) => configuration)).toEqual([better]);
    expect(raced!.standings[0]!.low).toBeGreaterThan(0);
    // Processes before and after the failure count.
    expect(raced!.standings[0]!.processes).toBeGreaterThanOrEqual(3);
  },
);

test('finals reuse a module of the search, and compile a second module in reverse order', async () => {
  const tools = await simulatedToolchain();
  const shape = matmul(61, 67, 71);
  const screener = new Screener(tools, shape);
  await screener.prepare([worse, better], 60);
  expect(screener.compiledWith([better, DATA_TILE_CONFIGURATION])).toBeNull();
  const screened = screener.compiledWith([better]);
  const finals = await prepareFinals(tools, shape, { ...entryOf(better), isBrief: true }, screened);
  expect(finals!.contestants).toEqual([{ name: 'c1', configuration: better, maxError: 0 }]);
  for (const build of [0, 1]) {
    const [timed] = await finals!.time(['c1'], { placement: 'apart', build });
    expect(timed!.defaultSeconds).toEqual([expect.any(Number)]);
    expect([...timed!.seconds.keys()]).toEqual(['c1']);
  }
  const isWritten = (name: string) => existsSync(join(tools.workDirectory, `${name}.mlir`));
  expect(['finals', 'finals_reversed'].map(isWritten)).toEqual([false, true]);
});
