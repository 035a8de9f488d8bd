// Records of this machine, measured again one after the other within a budget.
import { join } from 'node:path';
import { isDefault } from '../backend/configuration.ts';
import type { MeasuringTools } from '../compiler/find.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Site } from '../site/site.ts';
import { userName } from '../store/author.ts';
import type { Store, TuningRecord } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import { isOperationWork, type Workload } from '../workload/workload.ts';
import { measuringAlone, toolchainOf } from './here.ts';
import { measureAgain, type Again } from './measure-again.ts';
import { realBench } from './real-bench.ts';

export interface Verified {
  readonly record: TuningRecord;
  readonly again: Again;
}

/** What can be measured again on a site: gains that were found on it and that no program is needed for, the oldest first. */
export const verifiable = (records: readonly TuningRecord[], store: Store, site: Site): TuningRecord[] => {
  const { target, device, compiler } = placeOf(site);
  return records
    .filter((one) => one.target === target && one.device === device && one.compiler === compiler)
    .filter(({ configuration, failure }) => !isDefault(configuration) && failure === null)
    .filter((one) => isAlone(store.subject(one)?.workloadForm))
    .sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
};

/** Whether it can be measured without the program that it is from. */
const isAlone = (workload: Workload | undefined): boolean =>
  workload !== undefined && isOperationWork(workload) && workload.context === undefined;

/**
 * Measures records of a site again, as many as the budget has time for.
 * @param note is told of each as soon as it is measured
 * @returns why it ended before all were measured; null where it did not
 * @throws UserError where nothing can be written to the cache folder
 */
export async function verifyRecords(
  records: readonly TuningRecord[],
  store: Store,
  site: Site,
  tools: MeasuringTools,
  surroundings: Pick<Surroundings, 'env' | 'cacheDirectory'>,
  { budgetSeconds, signal }: { readonly budgetSeconds: number; readonly signal: AbortSignal },
  note: (verified: Verified) => void,
): Promise<string | null> {
  const clock = () => performance.now() / 1000;
  const end = clock() + budgetSeconds;
  return measuringAlone(surroundings, budgetSeconds, signal, async (folder) => {
    for (const [i, record] of records.entries()) {
      const secondsLeft = end - clock();
      if (secondsLeft < LEAST_SECONDS)
        return `the time is over: ${records.length - i} of ${records.length} records were not measured`;
      const subject = store.subject(record);
      if (subject === undefined || !isOperationWork(subject.workloadForm)) continue;
      const toolchain = toolchainOf(
        site,
        tools,
        join(folder, String(i)),
        surroundings.cacheDirectory,
        signal,
      );
      const until = Math.min(end, clock() + Math.max(LEAST_SECONDS, secondsLeft / (records.length - i)));
      const bench = realBench(toolchain, subject.workloadForm);
      const again = await measureAgain(record, subject, bench, store, userName(), () => clock() < until);
      note({ record, again });
    }
    return null;
  });
}

/** What one record takes at least, as a rule. */
const LEAST_SECONDS = 3;
