// Facts about a program for the benchmarks.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { programSignature, type ProgramFunction } from '../../src/input/signature.ts';
import { ELIDED } from '../../src/input/survey.ts';
import { contractionRoots, type Roots } from './contractions.ts';
import { HOST_FLAGS, type Workplace } from './workplace.ts';

/** The flags of a command that change the program's dispatches. */
export const changingFlags = (command: readonly string[]): string[] =>
  command.filter((flag) => /^--iree-(?:preprocessing|global-opt|opt|dispatch-creation)-/.test(flag));

/** The program's function `main`, or else its only public function. @throws when there is neither */
export function mainOf(path: string): ProgramFunction {
  const all = programSignature(readFileSync(path), (type) => type);
  const found = all.find(({ name }) => name === 'main') ?? (all.length === 1 ? all[0] : undefined);
  if (found === undefined) throw new Error(`${path} has no function main, and not one public function`);
  return found;
}

/**
 * Workloads of the program's dispatches: see `contractionRoots`.
 * @param flags that change the dispatches: see `changingFlags`
 * @throws when the program does not compile
 */
export async function rootsOf(
  path: string,
  folder: string,
  { compiler }: Workplace,
  flags: readonly string[] = [],
): Promise<Roots> {
  const textAt = async (phase: string) => {
    const output = join(folder, `${phase}.mlir`);
    const argv = [...flags, ...HOST_FLAGS, `--compile-to=${phase}`, ...ELIDED, path, '-o', output];
    await execa(compiler.executable, argv, { stdin: 'ignore' });
    return readFileSync(output);
  };
  return contractionRoots(await textAt('executable-sources'), await textAt('flow'));
}
