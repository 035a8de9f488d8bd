// The models as files, exported where they are missing.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { execa } from 'execa';
import { BenchError, say, UsageError } from '../shared/arguments.ts';
import { openPython } from '../shared/python.ts';
import { lastLine, root } from '../shared/workplace.ts';

export interface Model {
  readonly name: string;
  /** Its StableHLO. */
  readonly path: string;
  /** Values of `--input=` for its function `main`. */
  readonly inputs: readonly string[];
  /** More flags that it takes to run. */
  readonly run: readonly string[];
}

const exporter = (name: string) => join(root, 'bench', 'models', name);
const requirements = exporter('requirements.txt');

/** They are a few GB: kept, until what makes them changes. */
const folder = join(root, '.cache', 'models');

/**
 * All models, or those that are asked for.
 * @throws UsageError for a name that is none
 * @throws BenchError when they cannot be exported
 */
export async function exportModels(only: readonly string[] | null): Promise<Model[]> {
  const python = await openPython('.venv-models', requirements, 'jax and Keras');
  const names = JSON.parse(await runExporter(python, [])) as readonly string[];
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`--only ${unknown}: there is no such model; there are ${names.join(', ')}`);
  forgetOthers();
  const models: Model[] = [];
  for (const name of names.filter((name) => only?.includes(name) ?? true)) {
    const about = join(folder, `${name}.json`);
    if (!existsSync(about)) {
      say(`Exporting ${name} ...`);
      await runExporter(python, [folder, name]);
    }
    const { inputs, run } = JSON.parse(readFileSync(about, 'utf8')) as Pick<Model, 'inputs' | 'run'>;
    models.push({ name, path: join(folder, `${name}.mlir`), inputs, run });
  }
  return models;
}

async function runExporter(python: string, argv: readonly string[]): Promise<string> {
  const result = await execa(python, [exporter('export.py'), ...argv], {
    ...{ reject: false, stdin: 'ignore' },
    env: { JAX_PLATFORMS: 'cpu', PYTHONDONTWRITEBYTECODE: '1' },
  });
  if (result.exitCode !== 0) throw new BenchError(`export.py ${argv.join(' ')} failed: ${lastLine(result)}`);
  return result.stdout;
}

/** Removes models of another exporter, or of another place: paths are written into them. */
function forgetOthers(): void {
  const sources = ['export.py', 'architectures.py', 'keras_networks.py', 'requirements.txt'].map((name) =>
    readFileSync(exporter(name)),
  );
  const digest = createHash('sha256').update(Buffer.concat(sources)).update(folder).digest('hex');
  const stamp = join(folder, 'exporter.txt');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(stamp, digest);
}
