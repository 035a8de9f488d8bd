// Compiles of a program that is measured.
import { askCompiler } from '../compiler/ask.ts';
import { StoppedError } from '../measure/toolchain.ts';
import type { MeasuredProgram } from './callable.ts';

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
