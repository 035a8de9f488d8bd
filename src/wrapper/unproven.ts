// What is left out of a program that nobody had time to look at.
import { backendOf } from '../backend/index.ts';
import { isInjected, leaveOut, type Decision } from '../decision/decision.ts';
import { NO_TIME } from '../program/judge.ts';
import type { ProgramVerdict } from '../program/verdict.ts';

/**
 * Without what changes the program around its operations, where nobody had time to see whether the program is slower with it:
 * that what is faster alone is faster there, too, is sure only of what was measured in its dispatch. A later build tries again.
 */
export function withoutUnproven(
  decisions: readonly Decision[],
  verdict: ProgramVerdict | null,
): { readonly decisions: readonly Decision[]; readonly verdict: ProgramVerdict | null } {
  const left = new Map<string, string>();
  for (const { tunable, configuration } of decisions.filter(isInjected)) {
    const needs = backendOf(configuration).needsOf(configuration);
    if (needs !== null) left.set(tunable.key, `${NO_TIME} with ${needs}`);
  }
  const kept = leaveOut(decisions, (key) => left.get(key) ?? null);
  const leftOut = [...left].map(([workload, reason]) => ({ workload, reason }));
  return {
    decisions: kept,
    verdict: verdict && {
      ...verdict,
      leftOut: [...verdict.leftOut, ...leftOut],
      injected: kept.some(isInjected),
    },
  };
}
