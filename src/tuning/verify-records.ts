// Measures records of this machine again, one after the other, within a budget.
import { join } from 'node:path';
import { isDefault } from '../backend/configuration.ts';
import type { MeasuringTools } from '../compiler/find.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Site } from '../site/site.ts';
import { because, type Reason } from '../system/reason.ts';
import type { Store, TuningRecord } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import { isSelfContained, needsProgram } from '../workload/workload.ts';
import { measuringAlone, toolchainOf } from './here.ts';
import { measureAgain, type Again } from './measure-again.ts';
import { realBench } from './real-bench.ts';

export interface Verified {
  readonly record: TuningRecord;
  readonly again: Again;
}

/** Records of a site that can be measured again: gains of operations that need no program, oldest first. */
export const verifiable = (records: readonly TuningRecord[], store: Store, site: Site): TuningRecord[] => {
  const { target, device, compiler } = placeOf(site);
  return records
    .filter((one) => one.target === target && one.device === device && one.compiler === compiler)
    .filter(({ configuration, failure }) => !isDefault(configuration) && failure === null)
    .filter((one) => {
      const workload = store.subject(one)?.workloadForm;
      return workload !== undefined && isSelfContained(workload);
    })
    .sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
};

/**
 * Measures as many records of a site again as the budget allows.
 * @param note receives each as soon as it is measured
 * @returns why it ended early; null if it did not
 * @throws if the cache folder is not writable
 */
export async function verifyRecords(
  records: readonly TuningRecord[],
  store: Store,
  site: Site,
  tools: MeasuringTools,
  surroundings: Pick<Surroundings, 'env' | 'cacheDirectory'>,
  { budgetSeconds, signal }: { readonly budgetSeconds: number; readonly signal: AbortSignal },
  note: (verified: Verified) => void,
): Promise<Reason | null> {
  const clock = () => performance.now() / 1000;
  const end = clock() + budgetSeconds;
  return measuringAlone({ ...surroundings, device: site.device }, budgetSeconds, signal, async (folder) => {
    for (const [i, record] of records.entries()) {
      const secondsLeft = end - clock();
      if (secondsLeft < LEAST_SECONDS)
        return because(
          'budget-spent',
          `the time is over: ${records.length - i} of ${records.length} records were not measured`,
        );
      const subject = store.subject(record);
      if (subject === undefined || needsProgram(subject.workloadForm)) continue;
      const own = join(folder, String(i));
      const toolchain = toolchainOf(site, tools, own, surroundings.cacheDirectory, signal);
      const until = Math.min(end, clock() + Math.max(LEAST_SECONDS, secondsLeft / (records.length - i)));
      const bench = realBench(toolchain, subject.workloadForm);
      const again = await measureAgain(record, subject, bench, store, () => clock() < until);
      note({ record, again });
    }
    return null;
  });
}

/** Seconds that one record usually takes. */
const LEAST_SECONDS = 3;
