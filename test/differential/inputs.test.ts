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
import { SHAPES, type Shape } from './shapes.ts';

const folder = join(import.meta.dirname, 'inputs');

type Pairs = readonly (readonly [Shape, inputs: readonly string[]])[];

/** Compares builds of each input in its shapes, and says where the wrapper kept its own files. */
async function compareInputs(name: string, pairs: Pairs): Promise<string> {
  const modes = MODES.filter((mode) => mode.name === name);
  const place = temporaryDirectory();
  const environment = ({ settings }: Mode) => ({
    ...process.env,
    IREE_TUNED_COMPILER: compiler.executable,
    IREE_TUNED_DB: join(place, 'tuning.db'),
    IREE_TUNED_CACHE: join(place, 'cache'),
    ...Object.fromEntries(Object.entries(settings).map(([key, value]) => [`IREE_TUNED_${key}`, value])),
  });
  for (const [shape, inputs] of pairs) {
    const files = listInputs(inputs.map((input) => join(folder, input)));
    expect(files).toHaveLength(inputs.length);
    const report = await compareAll(
      { files, shapes: [shape], modes, jobs: 2, folder: join(place, 'work') },
      {
        stock: compiler.executable,
        wrapper: join(root, 'bin', 'iree-compile-tuned'),
        environment,
        compareModules: null,
      },
    );
    expect(report.findings.map(describe)).toEqual([]);
    expect(report.notCompared).toEqual([]);
    expect(report.comparisons).toBe(files.length);
    // Both compiles that succeed and compiles that fail were compared.
    expect(report.summary()).toMatch(/stock's compiles: (?=.*exit code 0).*exit code 1/);
  }
  return join(place, 'cache');
}

/** One that compiles and one that does not. */
const BOTH = ['matmul.mlir', 'broken.mlir'];

test('with an empty database and no budget, every build is the same', async () => {
  const inputs = readdirSync(folder).sort();
  const [file, ...others] = SHAPES;
  // Each in a file and in one more shape, and two in all of them; `npm run test:differential` has all in all.
  const pairs: Pairs = [
    [file!, inputs],
    ...others.map((shape, turn): Pairs[number] => [
      shape,
      inputs.filter((input, i) => i % others.length === turn || BOTH.includes(input)),
    ]),
  ];
  const cache = await compareInputs('cold', pairs);
  // Without Node or a bundle the launcher would be the compiler, and nothing would have been compared.
  const counted = readFileSync(join(cache, 'counters.jsonl'), 'utf8');
  expect(counted.trim().split('\n')).toHaveLength(pairs.reduce((sum, [, some]) => sum + some.length, 0));
});

test('disabled, every build is the same in every shape', async () => {
  // Nobody looks at the input then: these two stand for all.
  const cache = await compareInputs(
    'disabled',
    SHAPES.map((shape) => [shape, BOTH]),
  );
  expect(existsSync(cache)).toBe(false);
});
