// Shared by the tests of this folder: temporary folders, fake programs, and the real compiler if installed.
import { temporaryDirectory } from '../support/folders.ts';
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { findCompiler, type FoundCompiler } from '../../src/compiler/find.ts';
import { program, write } from '../support/scripts.ts';

/** Root folder of the package. */
export const root = join(import.meta.dirname, '..', '..');

/** pip's script for iree-compile. */
export function pipScript(python: string): string {
  return [
    `#!${python}`,
    '# -*- coding: utf-8 -*-',
    'import re',
    'import sys',
    'from iree.compiler.tools.scripts.iree_compile.__main__ import main',
    "if __name__ == '__main__':",
    '    sys.exit(main())',
    '',
  ].join('\n');
}

/** A virtual environment in pip's layout. The fake executable in site-packages prints `says`. */
export function fakeVenv(
  directory: string,
  says: string,
  python = 'python3.11',
): { script: string; elf: string } {
  const packages = join(directory, 'lib', python, 'site-packages');
  return {
    script: write(
      join(directory, 'bin', 'iree-compile'),
      pipScript(join(directory, 'bin', 'python3')),
      0o755,
    ),
    elf: program(join(packages, 'iree/compiler/_mlir_libs/iree-compile'), `echo "${says}" "$@"`),
  };
}

/** A copy of the launchers in a fake clone, with bundles that print their arguments. */
export function fakePackage(options: { built: boolean; node: boolean }): string {
  const directory = temporaryDirectory();
  cpSync(join(root, 'bin'), join(directory, 'bin'), { recursive: true });
  write(join(directory, 'scripts/build.mjs'), '');
  const said = (name: string) => `async () => console.log('${name}', ...process.argv.slice(2));`;
  if (options.built) {
    const dist = join(directory, 'dist/current');
    write(join(dist, 'iree-compile-tuned.cjs'), `exports.main = ${said('iree-compile-tuned')}`);
    write(join(dist, 'iree-tuned.js'), `export const main = ${said('iree-tuned')}`);
    write(join(directory, 'package.json'), '{ "type": "module" }');
  }
  if (options.node) {
    program(join(directory, 'node_modules/node/bin/node'), `exec "${process.execPath}" "$@"`);
  }
  return directory;
}

/** The compiler from `IREE_TUNED_COMPILER`, `PATH` or the checkout's `.venv`; null for none. */
export const realCompiler: FoundCompiler | null = (() => {
  try {
    return findCompiler(process.env, { root, compiler: process.env['IREE_TUNED_COMPILER'] });
  } catch {
    return null;
  }
})();

/** Runs the real compiler. */
export function compile(
  argv: readonly string[],
  cwd?: string,
): { code: number | null; stdout: string; stderr: string } {
  if (realCompiler === null) throw new Error('no compiler');
  const run = spawnSync(realCompiler.executable, argv, { encoding: 'utf8', cwd });
  return { code: run.status, stdout: run.stdout, stderr: run.stderr };
}

/** Whether a process runs, and is no zombie. */
export function isRunning(pid: number): boolean {
  const run = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return run.stdout.trim() !== '' && !run.stdout.startsWith('Z');
}

export const matmul = `func.func @f(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
`;
