// Runs the launchers under each shell.
import { spawnSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { launcherMarker } from '../../src/system/recursion.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { isFull } from '../support/needs.ts';
import { program, write } from '../support/scripts.ts';

/** A `PATH` with the launchers' tools only: no Node, no compiler. */
function linkedTools(): string {
  const directory = temporaryDirectory();
  for (const name of ['sh', 'dash', 'bash', 'readlink', 'env', 'cat', 'echo']) {
    const path = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
    if (path.startsWith('/')) symlinkSync(path, join(directory, name));
  }
  return directory;
}

interface Run {
  status: number | null;
  stdout: string;
  stderr: string;
}

type Runner = (
  file: string,
  argv: string[],
  env?: Record<string, string>,
  cwd?: string,
  input?: string,
) => Run;

export const start: Runner = (file, argv, env, cwd, input) => {
  const { status, stdout, stderr } = spawnSync(file, argv, { encoding: 'utf8', env, cwd, input });
  return { status, stdout, stderr };
};

export const wrapper = (directory: string) => join(directory, 'bin/iree-compile-tuned');

/** Writes a shim that starts the wrapper. @returns its path */
export const shimFor = (package_: string, path: string) =>
  program(path, `# ${launcherMarker}\nexec "${wrapper(package_)}" "$@"`);

/** Environment with a text as the user's file of settings. */
export function userSettings(text: string): { readonly XDG_CONFIG_HOME: string } {
  const XDG_CONFIG_HOME = temporaryDirectory();
  write(join(XDG_CONFIG_HOME, 'iree-tuned/config.json'), text);
  return { XDG_CONFIG_HOME };
}

export const said = (stdout: string): Run => ({ status: 0, stdout, stderr: '' });

/**
 * Defines tests for the launchers under each shell.
 * @param body receives a function that runs a script with `tools` as `PATH`, unless its environment has another one
 */
export function underEachShell(body: (run: Runner, tools: string, shell: string) => void): void {
  const tools = linkedTools();
  const installed = ['dash', 'bash'].filter((name) => existsSync(join(tools, name)));
  describe.each(isFull ? installed : installed.slice(0, 1))('under %s', (name) => {
    const shell = join(tools, name);
    const run: Runner = (file, argv, env, cwd, input) =>
      start(shell, [file, ...argv], { PATH: tools, ...env }, cwd, input);
    body(run, tools, shell);
  });
}
