// Scripts that make models, and where these are kept until the scripts change.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { execa } from 'execa';
import { BenchError } from './arguments.ts';
import { lastLine, root } from './workplace.ts';

/**
 * The folder in `.cache` for exported models. Models of other sources, or of another place, are removed from it: paths are
 * written into them.
 * @param sources paths of everything that decides what models come out
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
 * Runs Python, and returns what it prints.
 * @param argv a script, or `-m` and a module, and its arguments
 * @param what begins the message where it fails, which ends with the last line that Python said
 * @throws BenchError
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
