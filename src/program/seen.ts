// What a program that was run says of its own dispatches takes the place of what was measured of them by themselves. Pure.
import { dispatchOf } from '../workload/workload.ts';
import { gainOf, isInjected, type Decision, type Injected } from '../decision/decision.ts';
import type { Evidence } from '../store/store.ts';
import type { ComparedWorkload } from './slower.ts';

/** A decision whose evidence is what its program has shown. */
export type Seen = Injected & { readonly evidence: Evidence };

/**
 * Evidence of the running program: what lies around a dispatch, what is in the caches when it begins, and nothing of a call. The
 * ratio is that of what both take undisturbed, also where there are few pairs: one that is disturbed for as long as it lasts says
 * nothing of a configuration, but widens the interval. Processes are all in which it was timed, here and before.
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
 * The decision with what its program has shown, as far as that is faster beyond doubt: only of a workload that is the dispatch of
 * a program. One by itself is many programs', and its records are compared with each other.
 * @param device that the program was run on
 * @returns null where nothing was shown
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
