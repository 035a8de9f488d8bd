// Compares the results and the times of two programs.
import type { Extent } from '../../src/measure/compare-modules.ts';
import type { IsAnswered } from '../../src/program/answered.ts';
import { compareProgram } from '../../src/program/results.ts';
import { timeProgram, type Contest, type Verdict } from '../../src/program/verify.ts';

/**
 * Compares the results of both programs. If all results are equal, times the programs.
 * @param extent of the timing; `extent.seconds` is also the time limit of a call
 * @throws StoppedError when the signal fires
 */
export async function verifyProgram(
  contest: Contest,
  extent: Extent,
  isAnswered?: IsAnswered,
): Promise<Verdict> {
  const { equal, maxError, compared, reason, seconds } = await compareProgram(contest, extent.seconds);
  if (equal !== true) return { equal, maxError, compared, reason, timing: null };
  const timed = await timeProgram(contest, Math.max(...seconds), extent, isAnswered);
  return { equal, maxError, compared, reason: timed.reason, timing: timed.timing };
}
