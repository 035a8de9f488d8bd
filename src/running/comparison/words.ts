// Texts of a comparison: rows, notes, and a sentence. Pure.
import { settledShare } from '../../report/time-shares.ts';
import { formatRatio, percent } from '../../system/format.ts';
import { TUNED, type ComparedBuild, type Comparison } from './compare.ts';
import { DEFAULT } from './build.ts';

export const HEADER = [
  ...['build', 'ms', '99% interval', 'against best', 'against default', 'compile', 'results', 'decided'],
];

/** A row for each build. */
export const rowsOf = (comparison: Comparison): string[][] =>
  comparison.builds.map((one) => {
    const { name, seconds, againstBest, againstDefault, compileSeconds } = one;
    const isTuned = name === TUNED;
    const time = comparison.explanation?.time ?? null;
    return [
      name,
      seconds === null ? '-' : milliseconds(seconds.seconds),
      seconds === null ? '-' : `${milliseconds(seconds.low)} to ${milliseconds(seconds.high)}`,
      ...[againstBest, againstDefault].map((interval) => formatRatio(interval?.ratio)),
      `${compileSeconds.toFixed(1)} s`,
      isTuned ? RESULTS[String(resultsOf(comparison).equal) as keyof typeof RESULTS] : '-',
      isTuned && time !== null ? percent(settledShare(time)) : '-',
    ];
  });

const RESULTS = { true: 'equal', false: 'DIFFERENT', null: 'unknown' };

const milliseconds = (seconds: number): string =>
  Number.isFinite(seconds) ? Number((1000 * seconds).toPrecision(3)).toString() : '?';

/** Results of all functions: the first that are not equal decide. Unknown without any. */
export function resultsOf({ results }: Pick<Comparison, 'results'>): {
  readonly equal: boolean | null;
  readonly reason: string | null;
} {
  const [first] = results;
  const worst =
    results.find(({ equal }) => equal === false) ?? results.find(({ equal }) => equal === null) ?? first;
  return worst === undefined
    ? { equal: null, reason: null }
    : { equal: worst.equal, reason: worst.reason && `@${worst.name}: ${worst.reason}` };
}

/** A line for each build that has the code of another one or was not timed, and for each function that is not called. */
export const notesOf = ({ builds, skipped }: Comparison): string[] => [
  ...builds.flatMap(({ name, error, sameCodeAs }) =>
    error !== null
      ? [`${name} has no time: ${error}`]
      : sameCodeAs !== null
        ? [`${name} has the same code as ${sameCodeAs}.`]
        : [],
  ),
  ...skipped.map(({ name, reason }) => `@${name} is not called: ${reason}`),
];

/** The outcome in one sentence. */
export function sentenceOf(comparison: Comparison): string {
  const { builds, best } = comparison;
  const tuned = builds.find(({ name }) => name === TUNED)!;
  const { equal, reason } = resultsOf(comparison);
  if (equal === false && tuned.error === null)
    return `Do not use the tuned build: its results differ from stock's (${reason ?? 'no reason'}).`;
  if (tuned.error !== null) return `The tuned build has no result: ${tuned.error}.`;
  const results = equal === true ? 'with equal results' : `with unknown results (${reason ?? 'none'})`;
  if (tuned.sameCodeAs === best)
    return `Tuned has the code of the best of stock (${best}; ${whyUntuned(comparison)}), ${results}.`;
  const { ratio, low, high } = tuned.againstBest!;
  const interval = `99% interval ${formatRatio(low)} to ${formatRatio(high)}`;
  const [first, both] = [`(${best}; ${interval})`, `(${best}; ${formatRatio(ratio)}, ${interval})`];
  if (low > 1) return `Tuned is ${formatRatio(ratio)} as fast as the best of stock ${first}, ${results}.`;
  if (high < 1) return `Tuned is slower than the best of stock ${both}, ${results}: ${wayTo(builds, best)}.`;
  return high > WIDE * low
    ? `The noise hides a difference between tuned and the best of stock ${both}, ${results}: repeat the command on an idle machine.`
    : `There is no difference between tuned and the best of stock ${both}, ${results}.`;
}

const whyUntuned = ({ explanation }: Comparison): string => explanation?.reason ?? 'nothing faster is known';

/** An interval with a larger ratio of its ends hides differences that matter. */
const WIDE = 1.1;

/** The way to the best of stock. */
function wayTo(builds: readonly ComparedBuild[], best: string): string {
  const flags = builds.find(({ name }) => name === best)?.flags ?? [];
  return best === DEFAULT
    ? 'IREE_TUNED_DISABLE=1 builds without tuning'
    : `iree-compile with ${flags.join(' ')} is faster`;
}
