// What the benchmarks know of a program beside its modules.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { programSignature, type ProgramFunction } from '../../src/input/signature.ts';
import { ELIDED } from '../../src/input/survey.ts';
import { contractionRoots, type Root } from './contractions.ts';
import { HOST_FLAGS, type Workplace } from './workplace.ts';

/** Its function `main`. @throws when it has none */
export function mainOf(path: string): ProgramFunction {
  const found = programSignature(readFileSync(path), (type) => type).find(({ name }) => name === 'main');
  if (found === undefined) throw new Error(`${path} has no function main`);
  return found;
}

/** Its dispatches with contractions, see `contractionRoots`. @throws when it does not compile */
export async function rootsOf(
  path: string,
  folder: string,
  { compiler }: Workplace,
): Promise<Map<string, Root>> {
  const textAt = async (phase: string) => {
    const output = join(folder, `${phase}.mlir`);
    const argv = [...HOST_FLAGS, `--compile-to=${phase}`, ...ELIDED, path, '-o', output];
    await execa(compiler.executable, argv, { stdin: 'ignore' });
    return readFileSync(output);
  };
  return contractionRoots(await textAt('executable-sources'), await textAt('flow'));
}
