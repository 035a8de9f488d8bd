// Other honest builds of a program, which nobody tuned. Their results show how far rounding alone moves those of stock.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { backendNamed } from '../backend/index.ts';
import { withTrailingFlags } from '../compiler/command.ts';
import { originalCompile } from '../plan/injected-command.ts';
import type { CalledProgram } from './callable.ts';
import { compiling } from './compiling.ts';

/**
 * Compiles the original program with flags that change only its rounding, at the first call. Builds that fail are left out.
 * @param folder for the modules
 * @returns paths of the modules
 */
export function otherBuildsOf(program: CalledProgram, folder: string): () => Promise<readonly string[]> {
  const { command, inspected } = program;
  const { argv, stdin } = originalCompile(command, inspected.input);
  const run = compiling(program);
  let made: Promise<readonly string[]> | null = null;
  const compile = async (flags: readonly string[], name: string): Promise<readonly string[]> => {
    const module = join(folder, name);
    const problem = await run(withTrailingFlags(argv, [...flags, '-o', module]), stdin);
    return problem === null ? [module] : [];
  };
  return () =>
    (made ??= (async () => {
      mkdirSync(folder, { recursive: true });
      const flags = backendNamed(inspected.site.target.key)?.otherRounding ?? [];
      const modules = await Promise.all(flags.map((own, i) => compile(own, `${i}.vmfb`)));
      return modules.flat();
    })());
}
