// Files of the models, exported if they are missing.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { say, UsageError } from '../shared/arguments.ts';
import { modelFolder, runPython } from '../shared/exporter.ts';
import { openPython } from '../shared/python.ts';
import type { Program } from '../shared/programs.ts';
import { root } from '../shared/workplace.ts';

const exporter = (name: string) => join(root, 'bench', 'models', name);
const requirements = exporter('requirements.txt');
const sources = [
  'export.py',
  'architectures.py',
  'keras_networks.py',
  'torch_text.py',
  'requirements.txt',
].map(exporter);

/**
 * Exports all models, or only some: each has one function.
 * @throws UsageError for an unknown name
 * @throws BenchError when the export fails
 */
export async function exportModels(only: readonly string[] | null): Promise<Program[]> {
  const python = await openPython('.venv-models', requirements, 'jax and Keras');
  const names = JSON.parse(await runExporter(python, [])) as readonly string[];
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`--only ${unknown}: there is no such model; there are ${names.join(', ')}`);
  const folder = modelFolder('models', sources);
  const models: Program[] = [];
  for (const name of names.filter((name) => only?.includes(name) ?? true)) {
    const about = join(folder, `${name}.json`);
    if (!existsSync(about)) {
      say(`Exporting ${name} ...`);
      await runExporter(python, [folder, name]);
    }
    const { inputs, run } = JSON.parse(readFileSync(about, 'utf8')) as Pick<Program, 'inputs' | 'run'>;
    models.push({ name, path: join(folder, `${name}.mlir`), inputs, run });
  }
  return models;
}

const runExporter = (python: string, argv: readonly string[]): Promise<string> =>
  runPython(python, [exporter('export.py'), ...argv], `export.py ${argv.join(' ')} failed`, {
    JAX_PLATFORMS: 'cpu',
  });
