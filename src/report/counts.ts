// What is counted of one compile. Pure. The names are read again by statistics.ts.
import { isInjected, type Decision } from '../decision/decision.ts';
import type { Injection } from '../inject/plan.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import type { Counts } from './counting.ts';
import type { Reason } from '../system/reason.ts';

/** How one compile ended, as far as it is counted. */
export interface Counted {
  readonly decisions: readonly Decision[];
  readonly injection: Injection;
  /** What came of running the program; null where there was no need to. */
  readonly verdict: ProgramVerdict | null;
  /** For each decision whether it took effect; null when nobody looked. */
  readonly landed: readonly (boolean | null)[] | null;
  /** Why it was done without the injection after all; null when it was not. */
  readonly fallback: Reason | null;
  readonly tuningSeconds: number;
}

/** A compile of an input that was looked at. */
export function countsOf({
  decisions,
  injection,
  verdict,
  landed,
  fallback,
  tuningSeconds,
}: Counted): Counts {
  const sums = sumsOf(decisions);
  sums.add('seconds tuning', tuningSeconds);
  if (verdict?.injected === true && verdict.code !== null) sums.add(`not verified: ${verdict.code}`);
  if (fallback !== null) {
    sums.add(`fallback: ${fallback.code}`);
    return sums.counts;
  }
  if (injection.route === 'none') {
    sums.add(`unchanged: ${injection.code}`);
    return sums.counts;
  }
  sums.add(`route: ${injection.route}`);
  for (const [i, decision] of decisions.entries()) {
    if (!isInjected(decision)) continue;
    if (landed?.[i] === false) {
      sums.add('not applied');
    } else if (decision.evidence !== null) {
      sums.add('seconds per run by default', decision.evidence.defaultSeconds);
      sums.add('seconds per run tuned', decision.evidence.seconds);
    }
  }
  return sums.counts;
}

/** A compile that was passed on as it is, with what was decided until then. */
export function countsOfPass({ code }: Reason, decisions: readonly Decision[]): Counts {
  const sums = sumsOf(decisions);
  sums.add(`unchanged: ${code}`);
  return sums.counts;
}

/** One compile with these decisions, and a way to add to it. */
function sumsOf(decisions: readonly Decision[]) {
  const counts: Record<string, number> = { compiles: 1 };
  const add = (name: string, by = 1) => {
    if (by !== 0) counts[name] = (counts[name] ?? 0) + by;
  };
  for (const { outcome, code } of decisions) {
    add(`operations: ${outcome}`);
    if (outcome === 'skipped' || outcome === 'default') add(`${outcome}: ${code}`);
  }
  return { counts, add };
}
