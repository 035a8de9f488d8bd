// Runs a command in our place, and actions whose failure must not fail the build.
import type { Compile } from '../compiler/command.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { exitLike, replaceProcess, replaceProcessFed, runCompiler } from '../system/run.ts';
import { messageOf, tell } from '../system/tell.ts';

/** Runs a command in our place, or as a child if it needs bytes on stdin. Never returns. */
export async function runInPlace(
  executable: string,
  { argv, stdin }: Compile,
  env: Surroundings['env'],
): Promise<never> {
  if (stdin === undefined) return replaceProcess(executable, argv, env);
  try {
    return exitLike(await runCompiler(executable, argv, { env, stdin, capture: false }));
  } catch (error) {
    return replaceProcessFed(executable, argv, stdin, env, error);
  }
}

/** Runs an action whose failure must not fail the build. Never rejects. */
export async function attempt(
  action: () => Promise<void> | void,
  { settings }: Pick<Surroundings, 'settings'>,
): Promise<void> {
  try {
    await action();
  } catch (error) {
    tell(messageOf(error), settings.log);
  }
}

let isDelivered = false;

/** Whether the user has the output. After that no failure starts another compile. */
export const hasDelivered = (): boolean => isDelivered;

/** Notes that the user has the output. */
export const noteDelivered = (): void => {
  isDelivered = true;
};

/** Result of a compile that succeeds without running the compiler. */
export const SUCCESS = { code: 0, signal: null, forwarded: null };
