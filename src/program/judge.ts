// Decides which configurations a program keeps. Runs of the program find the configurations that make it wrong or slower.
import { LEAST_RATIO, type SlowerWorkload } from './slower.ts';
import { formatSeconds } from '../system/format.ts';
import { because, type Reason } from '../system/reason.ts';

/** As `ProgramRuns.ratio`; 0 for wrong results, null without an answer in time. */
type Score = ProgramQuery<number | null>;

/** Result of comparing results with stock's. */
export interface ComparedResults {
  /** `failed`: the tuned program has no results. `unknown`: stock has no results, or the time is over. */
  readonly results: 'equal' | 'different' | 'failed' | 'unknown';
  /** Why the results are not known to be equal; null for equal results. */
  readonly why: Reason | null;
}

/** Asks something about the program with the configurations of these workloads. */
export type ProgramQuery<Answer> = (keys: readonly string[]) => Promise<Answer>;

/** Runs of the program with the configurations of some workloads. The same query always has the same answer. */
export interface ProgramRuns {
  readonly compare: ProgramQuery<ComparedResults>;
  /** By the statistics of dispatches; empty without statistics. */
  readonly slower: ProgramQuery<readonly SlowerWorkload[]>;
  /** Stock's time over the program's where the program is slower, else 1; null without enough time, or where a loss may be noise. */
  readonly ratio: ProgramQuery<number | null>;
}

/** A workload that keeps the default in this program. */
export interface LeftOutWorkload {
  readonly key: string;
  /** For people. */
  readonly reason: string;
  /** The mark of the configuration for every program; null for a reason that concerns this program only. */
  readonly mark: { readonly kind: 'slower' | 'wrong-result'; readonly reason: string } | null;
}

/** The configurations that a program keeps. */
export interface Judgement {
  /** Keys of workloads. */
  readonly kept: readonly string[];
  readonly leftOut: readonly LeftOutWorkload[];
  /** Why the program with the kept configurations is not proven correct and no slower; null if it is. */
  readonly open: Reason | null;
}

/** Beginning of each reason for a configuration that does harm. */
export const WORSE = 'its configuration makes this program worse';

export const NO_TIME = because('no-time');

/** Why a configuration without a verdict is left out. */
export const UNCHECKED =
  'not used: no time to check the program with it; iree-tuned tune --verify-program does';

/**
 * Decides which configurations to keep. It removes configurations with wrong results, then configurations whose dispatches are slower
 * than stock's. If the whole program is still slower, halving finds the cause. When the time ends in a search for a cause, the
 * unproven configurations are left out.
 * @param keys of all workloads with a configuration
 * @param suspects keys of the workloads whose configuration also changes code around their operations
 */
export async function judge(
  keys: readonly string[],
  runs: ProgramRuns,
  suspects: readonly string[] = [],
): Promise<Judgement> {
  const first = await runs.compare(keys);
  const leftOut: LeftOutWorkload[] = [];
  let kept = keys;
  const without = (verdicts: readonly LeftOutWorkload[]) => {
    leftOut.push(...verdicts);
    kept = kept.filter((key) => !verdicts.some((verdict) => verdict.key === key));
  };

  /** Times still count if the results cannot be compared. */
  const isUnknown = first.results === 'unknown';
  if (!isUnknown && first.results !== 'equal') without(await wrongOnes(kept, runs));
  if (kept.length > 0) without(await slowerOnes(kept, runs));
  if (kept.length === 0) return { kept, leftOut, open: null };

  let isChecked = true;
  const score: Score = async (some) => {
    const { results } = await runs.compare(some);
    const isOver = results === 'unknown' && !isUnknown;
    const ratio = isOver ? null : ['equal', 'unknown'].includes(results) ? await runs.ratio(some) : 0;
    isChecked &&= ratio !== null;
    return ratio;
  };
  const why = isUnknown ? first.why : null;
  const untimed = why ?? NO_TIME;
  const whole = await score(kept);
  if (whole === null) return { kept, leftOut, open: untimed };
  if (whole >= LEAST_RATIO) return { kept, leftOut, open: why };
  const { harmless, isKnown } = await harmlessOf(kept, suspects, score);
  const slow = kept.filter((key) => !harmless.includes(key));
  without(slow.map((key) => leaveOut(key, isChecked ? 'the program is slower with it' : null, null)));
  return { kept, leftOut, open: isKnown ? why : untimed };
}

/**
 * Finds the configurations that do not slow the program down. Suspects are tested first. The others have no slower dispatches and change
 * no other code, so they are kept without enough time for a test.
 */
async function harmlessOf(
  keys: readonly string[],
  suspects: readonly string[],
  score: Score,
): Promise<{ readonly harmless: readonly string[]; readonly isKnown: boolean }> {
  const [suspected, others] = [true, false].map((is) => keys.filter((key) => suspects.includes(key) === is));
  const bestOf = async (some: readonly string[], beside: readonly string[]) => {
    const together = (part: readonly string[]) =>
      keys.filter((key) => part.includes(key) || beside.includes(key));
    const scoreOf = async (part: readonly string[]) => (await score(together(part))) ?? 0;
    const { subset } = await bestSubset(some, LEAST_RATIO, scoreOf);
    return { harmless: together(subset), isKnown: true };
  };
  if (suspected!.length === 0 || others!.length === 0) return bestOf(keys, []);
  const ratio = await score(others!);
  if (ratio === null) return { harmless: others!, isKnown: false };
  return ratio < LEAST_RATIO ? bestOf(keys, []) : bestOf(suspected!, others!);
}

/** Workloads whose own dispatches are slower. */
async function slowerOnes(keys: readonly string[], runs: ProgramRuns): Promise<LeftOutWorkload[]> {
  return (await runs.slower(keys)).map(({ key, comparison, isCertain }) => {
    const [before, after] = comparison.seconds.map(formatSeconds);
    return leaveOut(key, `its dispatches take ${after} instead of ${before}`, isCertain ? 'slower' : null);
  });
}

/** Workloads to leave out for correct results. */
async function wrongOnes(keys: readonly string[], runs: ProgramRuns): Promise<LeftOutWorkload[]> {
  const seen: string[] = [];
  const { subset } = await bestSubset(keys, 1, async (some) => {
    const { results } = await runs.compare(some);
    seen.push(results);
    return results === 'equal' ? 1 : 0;
  });
  const culprits = keys.filter((key) => !subset.includes(key));
  const verdicts: LeftOutWorkload[] = [];
  for (const key of culprits) {
    // Halving has mostly run this query already, unless only several configurations together are wrong.
    const { results, why } = await runs.compare([key]);
    const isKnown = results === 'different' || results === 'failed';
    const isChecked = results === 'equal' && !seen.includes('unknown');
    const together = isChecked ? 'its results are wrong beside others' : null;
    const detail = isKnown ? (why?.reason ?? 'its results are wrong') : together;
    const isAlone = culprits.length === 1 && results === 'different';
    verdicts.push(leaveOut(key, detail, isAlone ? 'wrong-result' : null));
  }
  return verdicts;
}

/** @param detail of the loss in the program; null without time to find it */
const leaveOut = (
  key: string,
  detail: string | null,
  kind: 'slower' | 'wrong-result' | null,
): LeftOutWorkload => ({
  key,
  reason: detail === null ? UNCHECKED : `${WORSE}: ${detail}`,
  mark: kind && { kind, reason: `in a program ${detail!}` },
});

interface Scored<T> {
  readonly subset: readonly T[];
  readonly score: number;
}

/**
 * Finds a large subset of `items` that scores at least `least`, by halving: all items if they reach it; otherwise the best subsets of
 * both halves, together if they reach it, else the better one. The empty subset scores 1.
 * @param scoreOf of a subset; called about 2 * log2(items) times for each harmful item
 */
export async function bestSubset<T>(
  items: readonly T[],
  least: number,
  scoreOf: (subset: readonly T[]) => Promise<number>,
): Promise<Scored<T>> {
  const nothing: Scored<T> = { subset: [], score: 1 };
  if (items.length === 0) return nothing;
  const score = await scoreOf(items);
  if (score >= least) return { subset: items, score };
  if (items.length === 1) return nothing;
  const middle = items.length >> 1;
  const halves = [
    await bestSubset(items.slice(0, middle), least, scoreOf),
    await bestSubset(items.slice(middle), least, scoreOf),
  ];
  const parts = halves.filter(({ subset }) => subset.length > 0);
  const together = parts.flatMap(({ subset }) => subset);
  if (parts.length === 2 && together.length < items.length) {
    const score = await scoreOf(together);
    if (score >= least) return { subset: together, score };
  }
  return parts.sort((a, b) => b.score - a.score)[0] ?? nothing;
}
