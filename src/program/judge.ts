// Which configurations a program keeps: what makes it wrong or slower is found out by running it, and left out.
import { bestSubset } from './best-subset.ts';
import { LEAST_RATIO, type SlowerWorkload } from './slower.ts';
import { formatSeconds } from '../system/format.ts';
import { because, type Reason } from '../system/reason.ts';

/** Stock's time over the program's with some configurations, as `ProgramRuns.ratio`; 0 where results are wrong, null where there was no time. */
type Score = Ask<number | null>;

/** What came of comparing results with stock's. */
export interface ComparedResults {
  /** Failed where there are none but stock's; unknown where stock gives none, or the time is over. */
  readonly results: 'equal' | 'different' | 'failed' | 'unknown';
  /** What is different, how it failed, or why nobody knows; null when they are equal. */
  readonly reason: string | null;
}

export type Ask<Answer> = (keys: readonly string[]) => Promise<Answer>;

/**
 * What runs the program with the configurations of some workloads, which are given by their keys. Each question is answered
 * in the same way when it is asked again.
 */
export interface ProgramRuns {
  readonly compare: Ask<ComparedResults>;
  /** By the statistics of its dispatches; none where there are no statistics. */
  readonly slower: Ask<readonly SlowerWorkload[]>;
  /**
   * Stock's time over this one's where it is slower, else 1; null where there was no time to tell, or it seems to be slower
   * and that may be noise.
   */
  readonly ratio: Ask<number | null>;
}

/** A workload that is left to the default in this program. */
export interface LeftOutWorkload {
  readonly key: string;
  /** For people; begins with what all of one kind have in common. */
  readonly reason: string;
  /** What its configuration is to be marked as for every program; null where this one alone says something. */
  readonly mark: { readonly kind: 'slower' | 'wrong-result'; readonly reason: string } | null;
}

/** What is to become of a program. */
export interface Judgement {
  /** Keys. */
  readonly kept: readonly string[];
  readonly leftOut: readonly LeftOutWorkload[];
  /** Why nobody can say that what is kept is right and no slower; null where that is sure. */
  readonly open: Reason | null;
}

/** How reasons for leaving something out begin. */
export const WORSE = 'its configuration makes this program worse';

export const NO_TIME = because('no-time');

/**
 * Decides what to keep. Wrong results first; then dispatches that are slower than stock's; then the program as a whole, in
 * which halving finds what no statistics tell. What there is no time to find out is left out once it is clear that
 * something is wrong.
 * @param keys of all workloads that have a configuration in the program
 * @param suspects those of them whose configuration changes what is around their operations, too
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

  /** Results that cannot be compared take as long as others, so times still count. */
  const isUnknown = first.results === 'unknown';
  if (!isUnknown && first.results !== 'equal') without(await wrongOnes(kept, runs));
  if (kept.length > 0) without(await slowerOnes(kept, runs));
  if (kept.length === 0) return { kept, leftOut, open: null };

  const score: Score = async (some) => {
    const { results } = await runs.compare(some);
    if (results === 'unknown' && !isUnknown) return null;
    return results === 'equal' || results === 'unknown' ? await runs.ratio(some) : 0;
  };
  const why = isUnknown ? openFor(first.reason) : null;
  const untimed = why ?? NO_TIME;
  const whole = await score(kept);
  if (whole === null) return { kept, leftOut, open: untimed };
  if (whole >= LEAST_RATIO) return { kept, leftOut, open: why };
  const { harmless, isKnown } = await harmlessOf(kept, suspects, score);
  const slow = kept.filter((key) => !harmless.includes(key));
  without(slow.map((key) => leaveOut(key, 'it is slower with it, or there was no time to tell', null)));
  return { kept, leftOut, open: isKnown ? why : untimed };
}

/** @param reason why results cannot be compared */
const openFor = (reason: string | null): Reason =>
  reason === NO_TIME.reason ? NO_TIME : because('results-unknown', reason ?? undefined);

/**
 * What of a program that is slower makes it no slower. Suspects first: the others are faster in their own dispatches, and what
 * is around those is the same, so they are kept where there is no time to see it.
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
    const { subset } = await bestSubset(
      some,
      LEAST_RATIO,
      async (part) => (await score(together(part))) ?? 0,
    );
    return { harmless: together(subset), isKnown: true };
  };
  if (suspected!.length === 0 || others!.length === 0) return bestOf(keys, []);
  const ratio = await score(others!);
  if (ratio === null) return { harmless: others!, isKnown: false };
  return ratio < LEAST_RATIO ? bestOf(keys, []) : bestOf(suspected!, others!);
}

/** Those whose own dispatches are slower. */
async function slowerOnes(keys: readonly string[], runs: ProgramRuns): Promise<LeftOutWorkload[]> {
  return (await runs.slower(keys)).map(({ key, comparison, isCertain }) => {
    const [before, after] = comparison.seconds.map(formatSeconds);
    return leaveOut(key, `its dispatches take ${after} instead of ${before}`, isCertain ? 'slower' : null);
  });
}

/** Those that it takes to leave out for right results. */
async function wrongOnes(keys: readonly string[], runs: ProgramRuns): Promise<LeftOutWorkload[]> {
  const { subset } = await bestSubset(keys, 1, async (some) =>
    (await runs.compare(some)).results === 'equal' ? 1 : 0,
  );
  const culprits = keys.filter((key) => !subset.includes(key));
  const verdicts: LeftOutWorkload[] = [];
  for (const key of culprits) {
    // Asked of each alone before, unless only several together are wrong.
    const { results, reason } = await runs.compare([key]);
    const isKnown = results === 'different' || results === 'failed';
    const why = (isKnown ? reason : null) ?? 'its results are wrong with it, or there was no time to tell';
    const isAlone = culprits.length === 1 && results === 'different';
    verdicts.push(leaveOut(key, why, isAlone ? 'wrong-result' : null));
  }
  return verdicts;
}

/** @param detail what is worse in the program */
const leaveOut = (key: string, detail: string, kind: 'slower' | 'wrong-result' | null): LeftOutWorkload => ({
  key,
  reason: `${WORSE}: ${detail}`,
  mark: kind && { kind, reason: `in a program ${detail}` },
});
