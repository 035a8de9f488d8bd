// Dispatches that are tuned as a whole: in their program, as a build does it.
import { subjectOf } from '../store/subject.ts';
import { recordOf } from '../tuning/earlier.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { isOperationWork } from '../workload/workload.ts';
import {
  NOTHING_TUNED,
  tuneProgram,
  type CurrentProgram,
  type Tuned,
  type TuningMeans,
} from '../wrapper/tune-program.ts';

/**
 * Tunes those of some workloads that are only there in their program.
 * @param again keys that are tuned even where there is a record
 */
export async function tuneDispatches(
  works: readonly Work[],
  again: ReadonlySet<string>,
  current: CurrentProgram,
  means: TuningMeans,
): Promise<Tuned> {
  const own = works.flatMap((work): Work[] => {
    if (isOperationWork(work.workload)) return [];
    const known = again.has(work.key) ? recordOf(means.store, subjectOf(work, current.inspected.site)) : null;
    return [{ ...work, ...(known && { goesOnFrom: known }) }];
  });
  return own.length === 0 ? NOTHING_TUNED : tuneProgram(own, current, means);
}
