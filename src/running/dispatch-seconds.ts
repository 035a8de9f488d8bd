// Time of each dispatch of a program, by the runtime's statistics.
import { timeModule } from '../measure/compare-modules.ts';
import { StoppedError } from '../measure/toolchain.ts';
import { messageOf, tell } from '../system/tell.ts';
import type { MeasuredProgram } from './callable.ts';
import { runnable } from './runnable.ts';

/** Shortest timing of a function, in seconds. The shares of dispatches need no more precision. */
const LEAST_SECONDS = 0.3;

/**
 * Seconds of each dispatch, by name, in one run of all functions of the untuned program; empty if they cannot be measured. The caller
 * holds the measuring lock.
 * @throws StoppedError when the signal fires
 */
export async function dispatchSeconds(program: MeasuredProgram): Promise<ReadonlyMap<string, number>> {
  const { limits, surroundings } = program;
  const seconds = new Map<string, number>();
  try {
    const { stock, contests } = await runnable(program);
    for (const contest of contests) {
      const effort = { repetitions: 1, minSeconds: LEAST_SECONDS, timeoutSeconds: limits.runSeconds };
      const { dispatches } = await timeModule(contest, stock, effort, true);
      for (const [name, one] of dispatches) seconds.set(name, (seconds.get(name) ?? 0) + one.seconds);
    }
  } catch (error) {
    if (error instanceof StoppedError) throw error;
    // The schedule then estimates times.
    tell(`the dispatches of the program cannot be timed: ${messageOf(error)}`, surroundings.settings.log);
  }
  return seconds;
}
