// What the benchmarks know of a program beside its modules.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { programSignature, type ProgramFunction } from '../../src/input/signature.ts';
import { ELIDED } from '../../src/input/survey.ts';
import { contractionRoots, type Roots } from './contractions.ts';
import { HOST_FLAGS, type Workplace } from './workplace.ts';

/** Of a command with an injection, the flags that change which dispatches a program has. */
export const changingFlags = (command: readonly string[]): string[] =>
  command.filter((flag) => /^--iree-(?:preprocessing|global-opt|opt|dispatch-creation)-/.test(flag));

/** Its function `main`. @throws when it has none */
export function mainOf(path: string): ProgramFunction {
  const found = programSignature(readFileSync(path), (type) => type).find(({ name }) => name === 'main');
  if (found === undefined) throw new Error(`${path} has no function main`);
  return found;
}

/**
 * Its dispatches with contractions, see `contractionRoots`.
 * @param flags that change which dispatches there are
 * @throws when it does not compile
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
