// The wrapper that tunes nothing is the compiler itself, whatever it is given.
import { readdirSync, readFileSync } from 'node:fs';
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

test(
  'disabled, and with an empty database and no budget, every build is the same in every shape',
  { timeout: 600_000 },
  async () => {
    const files = listInputs([folder]);
    expect(files.length).toBe(readdirSync(folder).length);
    const modes = MODES.filter(({ tunes }) => !tunes);
    const place = temporaryDirectory();
    const environment = ({ name, settings }: Mode) => ({
      ...process.env,
      IREE_TUNED_COMPILER: compiler.executable,
      IREE_TUNED_DB: join(place, name, 'tuning.db'),
      IREE_TUNED_CACHE: join(place, name, 'cache'),
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
    expect(report.comparisons).toBe(files.length * SHAPES.length * modes.length);
    // Without Node or a bundle the launcher would be the compiler, and nothing would have been compared.
    const counted = readFileSync(join(place, 'cold', 'cache', 'counters.jsonl'), 'utf8');
    expect(counted.trim().split('\n')).toHaveLength(files.length * SHAPES.length);
    // Both compiles that succeed and compiles that fail were compared.
    expect(report.summary()).toMatch(/stock's compiles: (?=.*exit code 0).*exit code 1/);
  },
);
