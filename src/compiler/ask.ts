// Runs the compiler, or a tool of it, for its output.
import { exitLike, runCompiler, type RunOptions, type RunResult } from '../system/run.ts';
import { STALL_SECONDS, whenHung, type Patience } from '../system/stall.ts';

/**
 * Runs the compiler with captured outputs, and without input but `stdin`. Kills it if it hangs or works for `workSeconds`. A signal to end
 * ends this process, too.
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
