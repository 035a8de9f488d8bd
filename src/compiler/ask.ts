// Runs the compiler, or a tool of it, for its output.
import { exitLike, runCompiler, type RunOptions, type RunResult } from '../system/run.ts';
import { STALL_SECONDS, whenHung, type Patience } from '../system/stall.ts';

export type AskOptions = Pick<RunOptions, 'env' | 'stdin'> & Pick<Patience, 'workSeconds'>;

/** Limit of processor time, in seconds. No question is worth an hour. */
const MOST_SECONDS = 3600;

/**
 * Runs the compiler with captured outputs, and without input but `stdin`. Kills it if it hangs or works for `workSeconds`. A signal to end
 * ends this process, too.
 */
export async function askCompiler(
  executable: string,
  argv: readonly string[],
  { env, stdin = new Uint8Array(), workSeconds = MOST_SECONDS }: AskOptions,
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

/** Runs a compile of the user's program besides the user's own compile. Waits for one of the machine's slots. */
export async function compileAside(
  executable: string,
  argv: readonly string[],
  { cacheDirectory, ...asked }: AskOptions & { readonly cacheDirectory: string },
): Promise<RunResult> {
  // Not loaded on a hit.
  const { takeSlot } = await import('../system/slots.ts');
  using _slot = await takeSlot(asked.env, cacheDirectory);
  return await askCompiler(executable, argv, asked);
}
