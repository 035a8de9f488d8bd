// Other honest builds of a program, which nobody tuned. Their results show how far rounding alone moves those of stock.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { backendNamed } from '../backend/index.ts';
import { askCompiler } from '../compiler/ask.ts';
import { withTrailingFlags } from '../compiler/command.ts';
import { StoppedError } from '../measure/toolchain.ts';
import { originalCompile } from '../plan/injected-command.ts';
import type { MeasuredProgram } from './callable.ts';

/**
 * Compiles the original program with flags that change only its rounding, at the first call. Builds that fail are left out.
 * @param folder for the modules
 * @returns paths of the modules
 */
export function otherBuildsOf(
  { command, inspected, surroundings: { env }, limits, signal }: MeasuredProgram,
  folder: string,
): () => Promise<readonly string[]> {
  let made: Promise<readonly string[]> | null = null;
  const compile = async (flags: readonly string[], name: string): Promise<readonly string[]> => {
    const module = join(folder, name);
    const { argv, stdin } = originalCompile(command, inspected.input);
    const options = { env, stdin, workSeconds: limits.compileSeconds / 2 };
    const own = withTrailingFlags(argv, [...flags, '-o', module]);
    const { code } = await askCompiler(command.compiler.executable, own, options);
    if (signal.aborted) throw new StoppedError('measuring was stopped');
    return code === 0 ? [module] : [];
  };
  return () =>
    (made ??= (async () => {
      mkdirSync(folder, { recursive: true });
      const flags = backendNamed(inspected.site.target.key)?.otherRounding ?? [];
      const modules = await Promise.all(flags.map((own, i) => compile(own, `${i}.vmfb`)));
      return modules.flat();
    })());
}
