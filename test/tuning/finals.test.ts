import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DATA_TILE_CONFIGURATION, type TileConfiguration } from '../../src/backend/llvm-cpu/configuration.ts';
import { prepareFinals } from '../../src/tuning/finals.ts';
import { race } from '../../src/tuning/race.ts';
import { Screener } from '../../src/tuning/screen.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { toolchain } from '../support/real-tools.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';
import { matmul } from '../support/workloads.ts';

const LONG = matmul(32, 64, 4096, ['bf16', 'bf16', 'bf16']);
const expected = { ofDefault: 0.01, ofFinalists: [0.01, 0.01] };

/** Sums one product after the other in bf16, which does not get beyond 1024 in such steps. */
const worse: TileConfiguration = {
  version: 1,
  kind: 'tile',
  distribution: [16, 32, 0],
  vectorCommonParallel: [4, 16, 0],
  vectorReduction: [0, 0, 1],
  peeling: false,
};
const better: TileConfiguration = { ...worse, vectorReduction: [0, 0, 4] };

test('narrow accumulators: another order of summation is verified, a worse one refused', async () => {
  const tools = { ...(await toolchain(temporaryDirectory())), compiler: rememberingCompiler };
  const finals = await prepareFinals(tools, LONG, [DATA_TILE_CONFIGURATION, worse], expected, false);
  expect(finals!.finalists.map(({ configuration }) => configuration)).toEqual([DATA_TILE_CONFIGURATION]);
  expect(finals!.failed).toEqual([
    {
      configuration: worse,
      outcome: 'wrong-result',
      reason: expect.stringMatching(/^element \d+ is 1024 instead of \d+$/) as string,
    },
  ]);
});

test.each([
  ['crashes', 'ulimit -c 0; kill -SEGV $$', 'run-error', 'ended by SIGSEGV'],
  ['stops', 'exit 3', 'run-error', 'exit code 3'],
])(
  'a finalist that %s while it is timed is out, and the others are measured',
  async (_, deed, outcome, reason) => {
    const real = { ...(await toolchain(temporaryDirectory())), compiler: rememberingCompiler };
    const benchmarkModule = join(real.workDirectory, 'benchmark');
    // From the third process on.
    writeFileSync(
      benchmarkModule,
      `#!/bin/sh
echo run >>'${real.workDirectory}/runs'
case "$*" in *f0*) [ "$(wc -l <'${real.workDirectory}/runs')" -lt 3 ] || { ${deed}; } ;; esac
exec '${real.benchmarkModule}' "$@"
`,
      { mode: 0o755 },
    );
    const shape = matmul(61, 67, 71);
    const finals = await prepareFinals({ ...real, benchmarkModule }, shape, [worse, better], expected, false);
    const raced = await race(
      finals!,
      () => true,
      () => undefined,
    );
    expect(raced!.failed).toEqual([{ configuration: worse, outcome, reason }]);
    expect(raced!.standings.map(({ configuration }) => configuration)).toEqual([better]);
    expect(raced!.standings[0]!.low).toBeGreaterThan(0);
    // Those before the failure count, and so do those after it.
    expect(raced!.standings[0]!.processes).toBeGreaterThanOrEqual(4);
  },
);

test('finals are timed in two builds, with functions in another order', async () => {
  const real = { ...(await toolchain(temporaryDirectory())), compiler: rememberingCompiler };
  const finals = await prepareFinals(real, matmul(61, 67, 71), [worse, better], expected, false);
  for (const build of [0, 1])
    for (const placement of ['apart', 'packed'] as const) {
      const timed = await finals!.time(['f0', 'f1'], { placement, build });
      expect(timed).toMatchObject({
        defaultSeconds: [expect.any(Number)],
        againSeconds: [expect.any(Number)],
      });
      expect([...timed.seconds.keys()].sort()).toEqual(['f0', 'f1']);
    }
  const orderOf = (name: string) =>
    [...readFileSync(join(real.workDirectory, `${name}.mlir`), 'utf8').matchAll(/^func.func @(\w+)\(/gm)]
      .map(([, own]) => own!)
      .filter((own) => own !== 'truth');
  expect(orderOf('finals_reversed')).toEqual(orderOf('finals').toReversed());
});

test('brief finals take what the search has compiled, and another order of it', async () => {
  const real = { ...(await toolchain(temporaryDirectory())), compiler: rememberingCompiler };
  const shape = matmul(61, 67, 71);
  const screener = new Screener(real, shape);
  await screener.prepare([worse, better]);
  expect(screener.compiledWith([better, DATA_TILE_CONFIGURATION])).toBeNull();
  const screened = screener.compiledWith([better]);
  const finals = await prepareFinals(
    real,
    shape,
    [better],
    { ofDefault: 0.01, ofFinalists: [0.01] },
    true,
    screened,
  );
  expect(finals!.finalists).toEqual([{ name: 'f0', configuration: better, maxError: 0 }]);
  for (const build of [0, 1]) {
    const timed = await finals!.time(['f0'], { placement: 'apart', build });
    expect(timed.defaultSeconds).toEqual([expect.any(Number)]);
    expect([...timed.seconds.keys()]).toEqual(['f0']);
  }
  const isWritten = (name: string) => existsSync(join(real.workDirectory, `${name}.mlir`));
  expect(['finals', 'finals_reversed'].map(isWritten)).toEqual([false, true]);
});
