// Records of this machine, measured again one after the other within a budget.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDefault } from '../backend/configuration.ts';
import type { MeasuringTools } from '../compiler/find.ts';
import { StoppedError, type Toolchain } from '../measure/toolchain.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { acquireMeasuringLock } from '../site/measuring-lock.ts';
import type { Site } from '../site/site.ts';
import { BUSY } from '../site/turn.ts';
import { userName } from '../store/author.ts';
import type { Store, TuningRecord } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import { Semaphore } from '../system/semaphore.ts';
import { UserError } from '../system/user-error.ts';
import { isOperationWork, type Workload } from '../workload/workload.ts';
import { measureAgain, type Again } from './measure-again.ts';
import { realBench } from './real-bench.ts';
import { likelyCompilesAtOnce } from './tune-workloads.ts';

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
  { env, cacheDirectory }: Pick<Surroundings, 'env' | 'cacheDirectory'>,
  { budgetSeconds, signal }: { readonly budgetSeconds: number; readonly signal: AbortSignal },
  note: (verified: Verified) => void,
): Promise<string | null> {
  const clock = () => performance.now() / 1000;
  const end = clock() + budgetSeconds;
  const lock = await acquireMeasuringLock({ env, cacheDirectory }, budgetSeconds, signal);
  if (lock === null) return BUSY;
  const folder = makeScratchFolder(cacheDirectory, 'tuning');
  try {
    if (folder === null) throw new UserError(`nothing can be written to the cache folder ${cacheDirectory}`);
    for (const [i, record] of records.entries()) {
      const secondsLeft = end - clock();
      if (secondsLeft < LEAST_SECONDS)
        return `the time is over: ${records.length - i} of ${records.length} records were not measured`;
      const subject = store.subject(record);
      if (subject === undefined || !isOperationWork(subject.workloadForm)) continue;
      const workDirectory = join(folder, String(i));
      mkdirSync(workDirectory);
      const toolchain: Toolchain = {
        ...{ ...tools, compiler: site.executable, compiles: new Semaphore(likelyCompilesAtOnce()) },
        ...{ release: site.compiler.release, flags: site.flags, device: site.device, signal },
        ...{ workDirectory, commonDirectory: folder },
      };
      const until = Math.min(end, clock() + Math.max(LEAST_SECONDS, secondsLeft / (records.length - i)));
      const bench = realBench(toolchain, subject.workloadForm);
      const again = await measureAgain(record, subject, bench, store, userName(), () => clock() < until);
      note({ record, again });
      rmSync(workDirectory, { recursive: true, force: true });
    }
    return null;
  } catch (error) {
    if (!(error instanceof StoppedError)) throw error;
    return 'it was interrupted';
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
    lock.release();
  }
}

/** What one record takes at least, as a rule. */
const LEAST_SECONDS = 3;
