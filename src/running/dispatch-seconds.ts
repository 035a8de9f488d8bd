// What of a program takes its time, as the program says itself: the runtime's statistics of its dispatches.
import { timeDispatches } from '../measure/compare-modules.ts';
import { StoppedError } from '../measure/toolchain.ts';
import { runOf } from '../program/verify.ts';
import { messageOf, tell } from '../system/tell.ts';
import { runnable, type MeasuredProgram } from './runnable.ts';

/** Least time that a function is timed for, in seconds: this is about shares, not about a few percent. */
const LEAST_SECONDS = 0.3;

/**
 * Seconds that each dispatch takes in one run of all functions of a program as it is, by name; empty where nobody can tell.
 * For whoever has the turn to measure.
 * @throws StoppedError when the signal fires
 */
export async function dispatchSeconds(program: MeasuredProgram): Promise<ReadonlyMap<string, number>> {
  const { limits, surroundings } = program;
  const seconds = new Map<string, number>();
  try {
    const { stock, contests } = await runnable(program);
    for (const contest of contests) {
      const effort = { repetitions: 1, minSeconds: LEAST_SECONDS, timeoutSeconds: limits.runSeconds };
      const { dispatches } = await timeDispatches(runOf(contest), stock, effort);
      for (const [name, one] of dispatches) seconds.set(name, (seconds.get(name) ?? 0) + one.seconds);
    }
  } catch (error) {
    if (error instanceof StoppedError) throw error;
    // What takes how long is guessed then.
    tell(`nobody knows what of the program takes its time: ${messageOf(error)}`, surroundings.settings.log);
  }
  return seconds;
}
