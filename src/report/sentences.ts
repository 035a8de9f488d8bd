// What is said while a program is tuned, in sentences. Pure.
import { isDefault, type Configuration } from '../backend/configuration.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import { formatDuration, formatSeconds } from '../system/format.ts';
import type { RoundsProgress } from '../program/tune-in-program.ts';
import type { TuningProgress } from '../tuning/search-job.ts';

/** How many are named one by one. */
const MOST_NAMED = 3;

const counted = (count: number) => `${count} ${count === 1 ? 'matmul' : 'matmuls'}`;

/** What is about to be done, and for how long. */
export const beginning = (count: number, seconds: number): string =>
  `tuning ${counted(count)} that ${count === 1 ? 'has' : 'have'} no record yet, for ${formatDuration(Math.ceil(seconds))} at most`;

/** What somebody is to know who sees that for the first time. */
export const INTRODUCTION =
  'later builds find the result. IREE_TUNED_BUDGET=0 builds without tuning, IREE_TUNED_DISABLE=1 is plain ' +
  'iree-compile (said once)';

/** Others may measure, and what is compiled first takes a while. */
export const PREPARING = 'waiting until nobody else measures here, and compiling what is timed first';

/** Where a search is. Short enough for 80 columns with the sizes of most matmuls. */
export function progressLine(progress: TuningProgress): string {
  const { secondsLeft, workloads, decided } = progress;
  const which = workloads === 1 ? '' : `${decided}/${workloads} done, `;
  return `${which}${searchInWords(progress)}, ${Math.ceil(secondsLeft)} s left`;
}

/** How far the rounds of a program are. */
export function roundsLine({ rounds, workloads, ratio, secondsLeft }: RoundsProgress): string {
  const gain = ratio > 1 ? `${ratio.toFixed(2)}x as fast together` : 'nothing faster yet';
  return `${workloads} at once, ${rounds} tried of each: ${gain}, ${Math.ceil(secondsLeft)} s left`;
}

/** How far one search is. */
export function searchInWords({
  workload,
  stage,
  trials,
  defaultSeconds,
  bestSeconds,
}: Omit<TuningProgress, 'secondsLeft'>): string {
  const sizes = [...workload.matchAll(/=(\d+)/g)].map((match) => match[1]).join('x');
  const gain =
    bestSeconds < defaultSeconds
      ? `, ${formatSeconds(defaultSeconds)} -> ${formatSeconds(bestSeconds)} (${(defaultSeconds / bestSeconds).toFixed(2)}x)`
      : trials > 0
        ? ', nothing faster yet'
        : '';
  const what = stage === 'finals' ? 'confirming' : `${trials} trials`;
  return `${sizes}: ${what}${gain}`;
}

/** What is known of a workload in the end. */
interface Result {
  readonly configuration: Configuration;
  readonly evidence: { readonly ratio: number; readonly complete: boolean };
}

/**
 * What came of it.
 * @param left how many nothing is known of
 * @param why it is not; only where there are any
 */
export function ending(results: readonly Result[], left: number, why: string, seconds: number): string {
  const gains = results
    .filter(({ configuration }) => !isDefault(configuration))
    .map(({ evidence }) => evidence.ratio)
    .sort((a, b) => a - b);
  const same = results.filter(({ configuration }) => isDefault(configuration));
  const best = same.filter(({ evidence }) => evidence.complete).length;
  const parts = [
    ...(gains.length > 0 ? [`${gains.length} faster (${gainsInWords(gains)})`] : []),
    ...(best > 0 ? [`${best} best as ${best === 1 ? 'it is' : 'they are'}`] : []),
    ...(same.length > best ? [`${same.length - best} with nothing faster so far`] : []),
    ...(left > 0 ? [`${left} left to the default: ${why}`] : []),
  ];
  return `${counted(results.length + left)} in ${formatDuration(seconds)}: ${parts.join(', ')}`;
}

/** From the least to the largest. */
function gainsInWords(gains: readonly number[]): string {
  const texts = gains.map((gain) => `${gain.toFixed(2)}x`);
  return texts.length <= MOST_NAMED ? texts.join(', ') : `${texts[0]!} to ${texts.at(-1)!}`;
}

/** What is done then, and for how long. */
export const runningProgram = (seconds: number): string =>
  `running the program, stock against tuned, for ${formatDuration(seconds)} at most`;

/** While operations are tried in another form. */
export const TRYING_FORMS = 'compiling and running the program with its operations in other forms';

/** What came of that; null where there is nothing to be said of it. */
export const formsEnding = (verdict: ProgramVerdict): string | null =>
  endingOf('the program with its operations in other forms', verdict);

/** What came of running a program; null where there is nothing to be said of it. */
export const programEnding = (verdict: ProgramVerdict): string | null => endingOf('the program', verdict);

function endingOf(subject: string, { functions, leftOut, injected, reason }: ProgramVerdict): string | null {
  const all = functions.map(({ name, timing, reason: why }) =>
    timing === null
      ? `@${name} was not timed: ${why ?? 'it has no results to compare'}`
      : `@${name} ${timing.ratio.toFixed(2)}x as fast`,
  );
  const more = all.length > MOST_NAMED ? [`${all.length - MOST_NAMED} more functions`] : [];
  const left = leftOut.length > 0 ? [`${counted(leftOut.length)} left to the default in it`] : [];
  const whole = reason === null ? [] : [`${injected ? 'not verified' : 'compiled as it is'}: ${reason}`];
  const said = [...all.slice(0, MOST_NAMED), ...more, ...left, ...whole];
  return said.length === 0 ? null : `${subject}: ${said.join(', ')}`;
}
