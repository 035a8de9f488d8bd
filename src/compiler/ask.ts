// Questions of our own to the compiler and the tools beside it.
import { exitLike, runCompiler, type RunOptions, type RunResult } from '../system/run.ts';
import { STALL_SECONDS, whenHung, type Patience } from '../system/stall.ts';

/**
 * Asks the compiler something of our own: its output is kept, it has no input but `stdin`, and it is killed when it
 * hangs, or has worked for `workSeconds`. A signal that asks for an end meanwhile ends this process too.
 */
export async function askCompiler(
  executable: string,
  argv: readonly string[],
  {
    env,
    stdin = new Uint8Array(),
    workSeconds = Infinity,
  }: Pick<RunOptions, 'env' | 'stdin'> & Pick<Patience, 'workSeconds'>,
): Promise<RunResult> {
  const options = {
    env,
    stdin,
    capture: true,
    limits: [whenHung({ stallSeconds: STALL_SECONDS, workSeconds })],
  };
  const result = await runCompiler(executable, argv, options);
  if (result.forwarded !== null) exitLike({ code: null, signal: result.forwarded, forwarded: null });
  return result;
}
