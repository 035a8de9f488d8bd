// Writes an explanation into the log, and into the file of the setting `explain`.
import { writeFileSync, writeSync } from 'node:fs';
import type { Settings } from '../settings/index.ts';
import { messageOf, tell, writeLog } from '../system/tell.ts';
import type { Explanation } from './explain.ts';

/** Whether a setting asks for an explanation. */
export const isExplained = ({ explain, log }: Settings): boolean =>
  explain !== undefined || log !== undefined;

/** Never throws. */
export function writeExplanation(explanation: Explanation, { explain, log }: Settings): void {
  if (log !== undefined) writeLog(JSON.stringify(explanation), log);
  if (explain === undefined) return;
  const text = `${JSON.stringify(explanation, null, 2)}\n`;
  try {
    if (explain === '-') writeSync(2, text);
    else writeFileSync(explain, text);
  } catch (error) {
    tell(`the explanation could not be written: ${messageOf(error)}`, log);
  }
}

/** The explanation of a repeated compile, which neither tunes nor runs anything. */
export const explainedAgain = (explanation: Explanation): Explanation => ({
  ...explanation,
  operations: explanation.operations.map((one) =>
    one.outcome === 'tuned' ? { ...one, outcome: 'hit' } : one,
  ),
  program: null,
  seconds: { ...explanation.seconds, tuning: 0 },
});

/** An explanation with the times of this process. */
export function timedNow(explanation: Explanation): Explanation {
  const total = performance.now() / 1000;
  return { ...explanation, seconds: { total, tuning: 0, overhead: total } };
}
