// Runs the launchers under each shell.
import { spawnSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { temporaryDirectory } from '../support/folders.ts';
import { isFull } from '../support/needs.ts';

/** A `PATH` with the launchers' tools only: no Node, no compiler. */
export const tools = (() => {
  const directory = temporaryDirectory();
  for (const name of ['sh', 'dash', 'bash', 'readlink', 'env', 'cat', 'echo']) {
    const path = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
    if (path.startsWith('/')) symlinkSync(path, join(directory, name));
  }
  return directory;
})();
const installed = ['dash', 'bash'].filter((name) => existsSync(join(tools, name)));
const shells = isFull ? installed : installed.slice(0, 1);

export interface Run {
  status: number | null;
  stdout: string;
  stderr: string;
}

export function start(file: string, argv: string[], env: Record<string, string> = {}, cwd?: string): Run {
  const run = spawnSync(file, argv, { encoding: 'utf8', env: { PATH: tools, ...env }, cwd });
  return { status: run.status, stdout: run.stdout, stderr: run.stderr };
}

export const wrapper = (directory: string) => join(directory, 'bin/iree-compile-tuned');
export const said = (stdout: string): Run => ({ status: 0, stdout, stderr: '' });

type Runner = typeof start;

/** Defines tests for the launchers under each shell. */
export function underEachShell(body: (run: Runner, shell: string) => void): void {
  describe.each(shells)('under %s', (shell) => {
    body((file, argv, env, cwd) => start(join(tools, shell), [file, ...argv], env, cwd), shell);
  });
}
