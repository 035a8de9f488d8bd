// The decisions that ship without a verdict on the program.
import { needsOf } from '../backend/index.ts';
import { isInjected, leaveOut, type Decision } from '../decision/decision.ts';
import { tensorSizesOf } from '../workload/workload.ts';
import { NO_TIME } from '../program/judge.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import { because, type Reason } from '../system/reason.ts';

/** The decisions that ship, with the verdict on them. */
interface Shippable {
  readonly decisions: readonly Decision[];
  readonly verdict: ProgramVerdict | null;
}

/**
 * @param open why there is no verdict; null if the program has correct results and is no slower
 * @param verdict result of the runs; null for none
 */
export function shippable(
  decisions: readonly Decision[],
  open: Reason | null,
  verdict: ProgramVerdict | null,
): Shippable {
  if (open === null) return { decisions, verdict };
  if (open.code === 'no-time') return unjudged(decisions, verdict);
  const isTimed = verdict?.functions.some(({ timing }) => timing !== null) === true;
  return { decisions: isTimed ? decisions : withoutRisky(decisions), verdict };
}

/** Leaves out all configurations: the program could be wrong or slower with them. A later build tries again. */
function unjudged(decisions: readonly Decision[], verdict: ProgramVerdict | null): Shippable {
  const keys = new Set(decisions.filter(isInjected).map(({ tunable }) => tunable.key));
  const kept = leaveOut(decisions, (key, own) => (own !== null && keys.has(key) ? NO_TIME : null));
  const leftOut = [...keys].map((workload) => ({ workload, ...NO_TIME }));
  return {
    decisions: kept,
    verdict: verdict && { ...verdict, leftOut: [...verdict.leftOut, ...leftOut], injected: false },
  };
}

const RISKY = 'the program was not run, and the operations before it may be slower with';

/**
 * Leaves out such a configuration only if its operation may read the result of an operation without one. The compiler then packs in the
 * dispatch of the other operation, and cannot vectorise both.
 */
function withoutRisky(decisions: readonly Decision[]): readonly Decision[] {
  const others: number[] = [];
  for (const decision of decisions) {
    const { tunable } = decision;
    if (tunable === null || needsOf(decision.configuration) !== null) continue;
    const sizes = tensorSizesOf(tunable.workload);
    if (sizes !== null) others.push(sizes.result);
  }
  const risks = new Map<string, Reason>();
  for (const decision of decisions) {
    const { tunable } = decision;
    const needs = needsOf(decision.configuration);
    if (tunable === null || needs === null) continue;
    const { workload, key } = tunable;
    if (tensorSizesOf(workload)?.inputs.some((size) => others.includes(size)) === true)
      risks.set(key, because('unproven-in-program', `${RISKY} ${needs}`));
  }
  if (risks.size === 0) return decisions;
  // An operation that is left out now is an operation without such a configuration.
  return withoutRisky(
    leaveOut(decisions, (key, own) => (needsOf(own) === null ? null : (risks.get(key) ?? null))),
  );
}
