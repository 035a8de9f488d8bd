// Time of each dispatch of a program, by the runtime's statistics.
import { surveyMemory } from '../input/survey-memory.ts';
import { timeModule } from '../measure/compare-modules.ts';
import { StoppedError } from '../measure/toolchain.ts';
import type { StockContest } from '../program/verify.ts';
import type { Store } from '../store/store.ts';
import { messageOf, tell } from '../system/tell.ts';
import type { MeasuredProgram } from './callable.ts';
import { whyNotRun } from './limits.ts';
import { noteTimes, runOf, type TimedRun } from './program-times.ts';
import { runnable } from './program-builds.ts';

/** Time of a compile, in surveys. */
const SURVEYS_PER_COMPILE = 5;

/** Shortest timing of a function, in seconds. The shares of dispatches need no more precision. */
const LEAST_SECONDS = 0.3;

/**
 * Seconds of each dispatch, by name, in one run of all functions of the untuned program. Empty if they cannot be measured, or if that is
 * likely to take more than half of the tuning time. The caller holds the measuring lock.
 * @throws StoppedError when the signal fires
 */
export async function dispatchSeconds(
  program: MeasuredProgram,
  store: Store,
): Promise<ReadonlyMap<string, number>> {
  const { inspected, limits, surroundings } = program;
  const { cacheDirectory, settings } = surroundings;
  const surveySeconds = surveyMemory.recall(cacheDirectory, inspected.input.identity)?.seconds ?? 0;
  const isRun = whyNotRun(inspected.input, settings.budgetSeconds) === null;
  if (!isRun || SURVEYS_PER_COMPILE * surveySeconds > limits.compileSeconds / 2) return new Map();
  let run: TimedRun = { dispatches: new Map(), wholeSeconds: null };
  try {
    const { stock, contests } = await runnable(program);
    run = await timedRun(contests, stock, limits.runSeconds);
  } catch (error) {
    if (error instanceof StoppedError) throw error;
    // The schedule then estimates times.
    tell(`the dispatches of the program cannot be timed: ${messageOf(error)}`, settings.log);
  }
  await noteTimes(program, run, store);
  return new Map([...run.dispatches].map(([name, { seconds }]) => [name, seconds]));
}

/** Times one call of each function, and its dispatches. @throws as `timeModule` */
export async function timedRun(
  contests: readonly StockContest[],
  module: string,
  timeoutSeconds: number,
): Promise<TimedRun> {
  const effort = { repetitions: 1, minSeconds: LEAST_SECONDS, timeoutSeconds };
  const functions = [];
  for (const contest of contests) {
    const { dispatches, seconds } = await timeModule(contest, module, effort, true);
    functions.push({ dispatches, wholeSeconds: seconds });
  }
  return runOf(functions);
}
