// A folder of shims in a user's working folder, and clients that know the shims alone.
import { spawnSync } from 'node:child_process';
import { readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { interpreterOf } from '../../src/compiler/pip.ts';
import { readHead } from '../../src/system/files.ts';
import { siblingsOf } from '../../src/cli/shim/shim.ts';
import { giveAnswers } from '../support/answers.ts';
import { compiler } from '../support/real-tools.ts';
import { simulatedPrograms } from '../support/simulated-programs.ts';
import { simulatedTools } from '../support/simulated-tools.ts';
import { Workplace } from './support.ts';

/** Folder of pip's scripts. */
export const pipFolder = dirname(compiler.invokedAs);

/** A Python with IREE's binding; null if pip has not installed the compiler. */
export const python: string | null = (() => {
  const candidates = [interpreterOf(readHead(compiler.invokedAs)), join(pipFolder, 'python3')];
  const works = (path: string | null) =>
    path !== null && spawnSync(path, ['-c', 'import iree.compiler.tools']).status === 0;
  return candidates.find(works) ?? null;
})();

/** Why there is no such Python; null if there is. */
export const noPython =
  python === null ? 'the compiler found is not one of pip: no Python has iree.compiler' : null;

export const isInstalled = (name: string): boolean => spawnSync(name, ['--version']).status === 0;

/**
 * A working folder with `iree-tuned shim` done; only what the shims know leads to the compiler.
 * @param real the compiler that they are installed for
 */
export async function shimmedWorkplace(
  env: Readonly<Record<string, string>>,
  real: (place: Workplace) => string = () => compiler.invokedAs,
): Promise<{ place: Workplace; shims: string }> {
  const place = new Workplace(env);
  const shims = place.path('shims');
  const { code, stderr } = await place.tuned(['shim', shims], {
    env: { IREE_TUNED_COMPILER: real(place) },
  });
  if (code !== 0) throw new Error(stderr);
  return { place, shims };
}

/**
 * Simulated tools, next to the other tools of the real installation. The file `hold` of the place holds searches. Whole programs end at once.
 */
export function simulatedInstallation(place: Workplace): string {
  place.write('hook', 'exit 1');
  const simulated = simulatedTools(place.path('tools'), {
    hold: place.path('hold'),
    programs: simulatedPrograms(place.folder),
  });
  const folder = dirname(simulated);
  const there = new Set(readdirSync(join(folder, '../../_runtime_libs')));
  for (const [name, path] of siblingsOf(compiler))
    if (!there.has(name)) symlinkSync(path, join(folder, name));
  giveAnswers(place.path('cache'), simulated);
  return simulated;
}

/** The client's variables for each way to use the folder. */
export const byPath = (shims: string) => ({
  IREE_TUNED_COMPILER: undefined,
  PATH: `${shims}:${process.env['PATH'] ?? ''}`,
});
export const byToolPath = (shims: string) => ({
  IREE_TUNED_COMPILER: undefined,
  IREE_TOOL_PATH: shims,
  PATH: `${pipFolder}:${process.env['PATH'] ?? ''}`,
});
