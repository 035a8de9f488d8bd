// A wrapper that does not tune behaves as the compiler on every input.
// In full after a change of src/wrapper, bin/iree-compile-tuned.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loggedBuilds } from '../../src/report/build-log.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { compiler, root } from '../support/real-tools.ts';
import { rememberingCompiler } from '../support/remembering-compiler.ts';
import { isFull } from '../support/needs.ts';
import { listInputs } from './files.ts';
import { MODES, type Mode } from './modes.ts';
import { describe } from './report.ts';
import { compareAll } from './run.ts';
import { SHAPES, type Shape } from './shapes.ts';

const folder = join(import.meta.dirname, 'inputs');

/** Inputs that compile, inputs that do not, and an input with several modules. */
const FEW = ['matmul.mlir', 'broken.mlir', 'split.mlir'];

/** All inputs; without the full tier the strangest ones. */
const INPUTS = isFull
  ? readdirSync(folder)
  : [...FEW, 'byte-order-mark.mlir', 'empty.mlir', 'latin-1.mlir', 'stablehlo.mlirbc', 'warning.mlir'];

/** `npm run test:differential` runs all inputs in all shapes. */
const shapesOf = (...names: readonly string[]) => SHAPES.filter(({ name }) => names.includes(name));

/**
 * Compares builds of inputs in all of the shapes.
 * @param executable the compiler, by default the one that remembers compiles
 */
async function compareInputs(
  executable: string,
  inputs: readonly string[],
  shapes: readonly Shape[],
  modes: readonly Mode[],
): Promise<void> {
  const place = temporaryDirectory();
  const cacheOf = ({ name }: Mode) => join(place, `cache-${name}`);
  const files = listInputs(inputs.map((input) => join(folder, input)));
  expect(files).toHaveLength(inputs.length);
  const report = await compareAll(
    { files, shapes, modes, jobs: 2, folder: join(place, 'work') },
    {
      stock: executable,
      wrapper: join(root, 'bin', 'iree-compile-tuned'),
      environment: (mode) => ({
        ...process.env,
        IREE_TUNED_COMPILER: executable,
        IREE_TUNED_DB: join(place, 'tuning.db'),
        IREE_TUNED_CACHE: cacheOf(mode),
        ...Object.fromEntries(
          Object.entries(mode.settings).map(([key, value]) => [`IREE_TUNED_${key}`, value]),
        ),
      }),
      compareModules: null,
    },
  );
  expect(report.findings.map(describe)).toEqual([]);
  expect(report.notCompared).toEqual([]);
  const count = files.length * shapes.length;
  expect(report.comparisons).toBe(count * modes.length);
  // Both compiles that succeed and compiles that fail were compared.
  expect(report.summary()).toMatch(/stock's compiles: (?=.*exit code 0).*exit code 1/);
  for (const mode of modes)
    if (mode.name === 'disabled') expect(existsSync(cacheOf(mode))).toBe(false);
    else {
      // Without Node or a bundle the launcher would run the compiler, and the comparison would be worthless.
      expect(loggedBuilds(cacheOf(mode))).toHaveLength(count);
    }
}

const [disabled, cold] = ['disabled', 'cold'].map((name) => MODES.find((mode) => mode.name === name)!);

test('with an empty database and no budget, every build is the same', async () => {
  await compareInputs(rememberingCompiler, INPUTS, shapesOf('file'), [cold!]);
  if (isFull) await compareInputs(rememberingCompiler, INPUTS, shapesOf('stdin'), [cold!]);
});

test(
  'with the process replaced by the compiler, every build is the same in every shape',
  { tags: 'full' },
  async () => {
    await compareInputs(compiler.executable, FEW, SHAPES, [cold!]);
  },
);

test('disabled, every build is the same', async () => {
  // A disabled wrapper does not read the input.
  await compareInputs(rememberingCompiler, FEW, shapesOf('stdin'), [disabled!]);
});
