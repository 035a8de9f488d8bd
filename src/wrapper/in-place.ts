// Runs a command in our place, and what no build depends on.
import type { Surroundings } from '../settings/surroundings.ts';
import { exitLike, replaceProcess, replaceProcessFed, runCompiler } from '../system/run.ts';
import { messageOf, tell } from '../system/tell.ts';

/** Runs a command in our place where possible. Never returns. */
export async function runInPlace(
  executable: string,
  argv: readonly string[],
  stdin: Uint8Array | undefined,
  env: Surroundings['env'],
): Promise<never> {
  if (stdin === undefined) return replaceProcess(executable, argv, env);
  try {
    return exitLike(await runCompiler(executable, argv, { env, stdin, capture: false }));
  } catch (error) {
    return replaceProcessFed(executable, argv, stdin, env, error);
  }
}

/** Does something that no build depends on. Never rejects. */
export async function attempt(
  deed: () => Promise<void> | void,
  { settings }: Pick<Surroundings, 'settings'>,
): Promise<void> {
  try {
    await deed();
  } catch (error) {
    tell(messageOf(error), settings.log);
  }
}

let isDelivered = false;

/** Whether the user has the output: a failure from then on starts no other compile. */
export const hasDelivered = (): boolean => isDelivered;

/** The user has the output. */
export const noteDelivered = (): void => {
  isDelivered = true;
};
