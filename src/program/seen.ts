// Replaces a record's evidence by measurements of its dispatches in the running program. Pure.
import { dispatchOf } from '../workload/workload.ts';
import { gainOf, isInjected, type Decision, type Injected } from '../decision/decision.ts';
import type { Evidence } from '../store/store.ts';
import type { ComparedWorkload } from './slower.ts';

/** A decision with evidence from its program. */
export type Seen = Injected & { readonly evidence: Evidence };

/**
 * Evidence from the running program, which includes the effects of neighbouring dispatches and caches, and excludes the cost of a call.
 * The ratio is that of undisturbed times, even for few pairs: a disturbed pair only widens the interval. The numbers of processes add up.
 */
function evidenceOf(before: Evidence, { comparison, calls, processes }: ComparedWorkload): Evidence {
  const { low, high, seconds } = comparison;
  const ratio = Math.min(high, Math.max(low, seconds[0] / seconds[1]));
  return {
    ...before,
    ...{ ratio, low, high, defaultSeconds: seconds[0] / calls, seconds: seconds[1] / calls },
    processes: before.processes + processes,
    repetitions: before.repetitions + processes,
  };
}

/**
 * The decision with evidence from its program. Only a workload with a dispatch as its context gets such evidence: other workloads occur
 * in many programs, and their records must stay comparable.
 * @returns null if the program does not prove a gain
 */
export function seenInProgram(
  decision: Decision,
  workloads: readonly ComparedWorkload[],
  device: string,
): Seen | null {
  if (!isInjected(decision)) return null;
  const { tunable, configuration, evidence: before, record } = decision;
  const own = workloads.find(({ key }) => key === tunable.key);
  if (own === undefined || before === null || record?.device !== device) return null;
  if (dispatchOf(tunable.workload) === null || own.comparison.low <= 1) return null;
  const evidence = evidenceOf(before, own);
  return { ...decision, evidence, reason: `${gainOf(configuration, evidence).reason}, as its program shows` };
}
