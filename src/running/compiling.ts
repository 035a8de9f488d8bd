// Compiles of a program that is measured.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backendNamed } from '../backend/index.ts';
import { targetArchitecture } from '../backend/target.ts';
import { askCompiler } from '../compiler/ask.ts';
import { originalCompile, withTrailingFlags } from '../compiler/command.ts';
import type { Rewritable } from '../form/rewritable.ts';
import { formsSpec, REWRITE } from '../form/spec.ts';
import { widestSums } from '../form/wide-sums.ts';
import { StoppedError } from '../measure/toolchain.ts';
import { pipelineFlags, rewritingPasses } from '../spec/pipeline.ts';
import type { CalledProgram, MeasuredProgram } from './callable.ts';

/** The result of a compile that was ended because it worked for too long or hung. */
export const TOO_LONG = 'the compiler took too long';

/**
 * Runs the compiler on a program. Its result is the messages on failure, else null.
 * @throws StoppedError when the signal fires
 */
export const compiling =
  ({
    command,
    surroundings: { env },
    limits,
    signal,
  }: Pick<MeasuredProgram, 'command' | 'surroundings' | 'limits' | 'signal'>) =>
  async (
    argv: readonly string[],
    stdin?: Uint8Array,
    workSeconds = limits.compileSeconds / 2,
  ): Promise<string | null> => {
    const options = { env, stdin, workSeconds };
    const { code, stderr, cut } = await askCompiler(command.compiler.executable, argv, options);
    if (signal.aborted) throw new StoppedError('measuring was stopped');
    if (cut !== null) return TOO_LONG;
    return code === 0 ? null : stderr.toString();
  };

/** The flags with which all narrow sums of a program are wide; no flags without such sums. @param folder for a file */
function wideSums(rewritables: readonly Rewritable[], folder: string): string[][] {
  const choices = widestSums(rewritables);
  if (choices.length === 0) return [];
  const path = join(folder, 'wide-sums.mlir');
  writeFileSync(path, formsSpec(choices));
  return [pipelineFlags([rewritingPasses(path, REWRITE)])];
}

/**
 * Other honest builds of a program: flags change only its rounding, and their results show how far rounding alone moves those of stock.
 * They compile at the first call, whose result are the paths of their modules. Builds that fail are left out.
 */
export function otherBuildsOf(program: CalledProgram, folder: string): () => Promise<readonly string[]> {
  const { command, inspected, rewritables = () => [] } = program;
  const { argv, stdin } = originalCompile(command, inspected.input);
  const run = compiling(program);
  const compileAll = async (): Promise<readonly string[]> => {
    mkdirSync(folder, { recursive: true });
    const { key, target } = inspected.site.target;
    const rounded = backendNamed(key)?.flags(targetArchitecture(target)).otherRounding ?? [];
    const modules = [...rounded, ...wideSums(rewritables(), folder)].map(async (own, i) => {
      const module = join(folder, `${i}.vmfb`);
      const problem = await run(withTrailingFlags(argv, [...own, '-o', module]), stdin);
      return problem === null ? [module] : [];
    });
    return (await Promise.all(modules)).flat();
  };
  let made: Promise<readonly string[]> | null = null;
  return () => (made ??= compileAll());
}
