// The wrapper that tunes nothing is the compiler itself, whatever it is given.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/folders.ts';
import { compiler, root } from '../support/real-tools.ts';
import { listInputs } from './files.ts';
import { MODES, type Mode } from './modes.ts';
import { describe } from './report.ts';
import { compareAll } from './run.ts';
import { SHAPES } from './shapes.ts';

const folder = join(import.meta.dirname, 'inputs');

/** Compares builds of the inputs in every shape, and says where the wrapper kept its own files. */
async function compareInputs(name: string, inputs: readonly string[]): Promise<string> {
  const files = listInputs(inputs.map((input) => join(folder, input)));
  expect(files).toHaveLength(inputs.length);
  const modes = MODES.filter((mode) => mode.name === name);
  const place = temporaryDirectory();
  const environment = ({ settings }: Mode) => ({
    ...process.env,
    IREE_TUNED_COMPILER: compiler.executable,
    IREE_TUNED_DB: join(place, 'tuning.db'),
    IREE_TUNED_CACHE: join(place, 'cache'),
    ...Object.fromEntries(Object.entries(settings).map(([key, value]) => [`IREE_TUNED_${key}`, value])),
  });
  const report = await compareAll(
    { files, shapes: SHAPES, modes, jobs: 2, folder: join(place, 'work') },
    {
      stock: compiler.executable,
      wrapper: join(root, 'bin', 'iree-compile-tuned'),
      environment,
      compareModules: null,
    },
  );
  expect(report.findings.map(describe)).toEqual([]);
  expect(report.notCompared).toEqual([]);
  expect(report.comparisons).toBe(files.length * SHAPES.length);
  // Both compiles that succeed and compiles that fail were compared.
  expect(report.summary()).toMatch(/stock's compiles: (?=.*exit code 0).*exit code 1/);
  return join(place, 'cache');
}

test('with an empty database and no budget, every build is the same in every shape', async () => {
  const inputs = readdirSync(folder);
  const cache = await compareInputs('cold', inputs);
  // Without Node or a bundle the launcher would be the compiler, and nothing would have been compared.
  const counted = readFileSync(join(cache, 'counters.jsonl'), 'utf8');
  expect(counted.trim().split('\n')).toHaveLength(inputs.length * SHAPES.length);
});

test('disabled, every build is the same in every shape', async () => {
  // Nobody looks at the input then: one that compiles and one that does not stand for all.
  const cache = await compareInputs('disabled', ['matmul.mlir', 'broken.mlir']);
  expect(existsSync(cache)).toBe(false);
});
