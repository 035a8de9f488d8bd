// Runs the scripts that export models, and keeps the models until the scripts change.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { execa } from 'execa';
import { BenchError } from './arguments.ts';
import { lastLine, root } from './workplace.ts';

/**
 * The folder in `.cache` for exported models. If the sources or the folder's path change, all models are removed: they contain paths.
 * @param sources paths of all files that the models depend on
 */
export function modelFolder(name: string, sources: readonly string[]): string {
  const folder = join(root, '.cache', name);
  const bytes = Buffer.concat(sources.map((path) => readFileSync(path)));
  const digest = createHash('sha256').update(bytes).update(folder).digest('hex');
  const stamp = join(folder, 'exporter.txt');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(stamp, digest);
  return folder;
}

/**
 * Runs Python, and returns its stdout.
 * @param argv a script, or `-m` and a module, and its arguments
 * @param what beginning of the error message; the last line of stderr follows
 * @throws BenchError when Python fails
 */
export async function runPython(
  python: string,
  argv: readonly string[],
  what: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const result = await execa(python, argv, {
    ...{ reject: false, stdin: 'ignore' },
    env: { PYTHONDONTWRITEBYTECODE: '1', ...env },
  });
  if (result.exitCode !== 0) throw new BenchError(`${what}: ${lastLine(result)}`);
  return result.stdout;
}
