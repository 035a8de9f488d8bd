// The counts of one compile. Pure. statistics.ts reads the names again.
import { isDefault } from '../backend/configuration.ts';
import { isInjected, type Decision } from '../decision/decision.ts';
import type { Injection } from '../inject/plan.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import type { Counts } from './counting.ts';
import type { Reason } from '../system/reason.ts';

/** The counted results of one compile. */
export interface Counted {
  readonly decisions: readonly Decision[];
  readonly injection: Injection;
  /** Verdict of running the program; null if the program was not run. */
  readonly verdict: ProgramVerdict | null;
  /** For each decision whether the executables have it; null if no build has looked. */
  readonly landed: readonly (boolean | null)[] | null;
  /** Why the compile was repeated without tuning; null if it was not. */
  readonly fallback: Reason | null;
  readonly tuningSeconds: number;
}

/** Counts of a compile with decisions. */
export function countsOf(compile: Counted): Counts {
  const { decisions, injection, verdict, landed, fallback, tuningSeconds } = compile;
  const { counts, add } = sumsOf(decisions);
  add('seconds tuning', tuningSeconds);
  if (verdict?.injected === true && verdict.code !== null) add(`not verified: ${verdict.code}`);
  if (fallback !== null) add(`fallback: ${fallback.code}`);
  else if (injection.route === 'none') add(`unchanged: ${injection.code}`);
  else {
    add(`route: ${injection.route}`);
    for (const [i, decision] of decisions.entries()) {
      if (!isInjected(decision)) continue;
      if (landed?.[i] === false) add('not applied');
      else if (decision.evidence !== null) {
        add('seconds per run by default', decision.evidence.defaultSeconds);
        add('seconds per run tuned', decision.evidence.seconds);
      }
    }
  }
  return counts;
}

/** Counts of a compile that was passed on unchanged, with the decisions until then. */
export function countsOfPass({ code }: Reason, decisions: readonly Decision[]): Counts {
  const { counts, add } = sumsOf(decisions);
  add(`unchanged: ${code}`);
  return counts;
}

/** Counts of these decisions, with a function that adds more. */
function sumsOf(decisions: readonly Decision[]) {
  const counts: Record<string, number> = { compiles: 1 };
  const add = (name: string, by = 1) => {
    if (by !== 0) counts[name] = (counts[name] ?? 0) + by;
  };
  for (const { outcome, code, configuration } of decisions) {
    add(`operations: ${outcome}`);
    if (outcome === 'skipped' || outcome === 'default') add(`${outcome}: ${code}`);
    if (configuration !== null && isDefault(configuration)) add('default kept');
  }
  return { counts, add };
}
