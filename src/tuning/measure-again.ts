// Races the configurations of records with the default: again, or for the first time on this device.
import { join } from 'node:path';
import { isDefault } from '../backend/configuration.ts';
import type { MeasuringTools } from '../compiler/find.ts';
import type { Interval } from '../measure/statistics.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Site } from '../site/site.ts';
import type { Run, Store, Subject, TuningRecord } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import { because, type Reason } from '../system/reason.ts';
import { countdown } from '../measure/toolchain.ts';
import { isSelfContained, needsProgram, staticForms } from '../workload/workload.ts';
import type { Bench } from './bench.ts';
import { finalRace, type Race, type Standing } from './final-race.ts';
import { measuringAlone, toolchainOf } from './here.ts';
import { realBench } from './real-bench.ts';
import { decisionOf } from './result.ts';
import { defaultTrial, runsOf, SearchNotes, timedTrial } from './search-notes.ts';

/**
 * - `holds`: both intervals overlap. `faster`, `weaker`: they do not, and the record is still faster than the default.
 * - `lost`: no longer faster than the default.
 * - `failed`: no longer compiles or runs, or has a wrong result.
 * - `busy`: undecided; the record does not change.
 */
export type Drift = 'holds' | 'faster' | 'weaker' | 'lost' | 'failed' | 'busy';

export interface Again {
  readonly drift: Drift;
  /** Interval of this measurement; null without one. */
  readonly now: Interval | null;
  /** Why it failed or stayed undecided. */
  readonly reason: string | null;
}

/** Strategy name of the trials. */
const AGAIN = 'again';

/**
 * Races a record's configuration with the default. Writes trials, runs and marks.
 * @param strategy name of the trials
 * @param isBrief see `Entry`
 * @param isTimeLeft whether more processes than the minimum may run
 * @returns null if the default cannot be timed
 * @throws errors of the bench
 */
export async function raceWithDefault(
  { configuration, evidence }: TuningRecord,
  bench: Bench,
  notes: SearchNotes,
  strategy: string,
  isBrief: boolean,
  isTimeLeft: () => boolean,
): Promise<Race | null> {
  const sizes = staticForms(notes.subject.workloadForm).length;
  const ratio = evidence.defaultSeconds / evidence.seconds;
  const defaultSeconds = sizes * evidence.defaultSeconds;
  const entry = { finalists: [{ configuration, ratio }], defaultSeconds, isBrief };
  const finals = await bench.prepareFinals(entry);
  if (finals === null) return null;
  const runs: Run[] = [];
  const raced = await finalRace(finals, isTimeLeft, (process, round) => {
    runs.push(...runsOf(finals.contestants, process, 'finals', round));
  });
  if (raced === null) return null;
  notes.addTrials([
    defaultTrial(raced.defaultSeconds, strategy),
    ...raced.standings.map((one) => timedTrial(one, strategy)),
  ]);
  notes.addFailures(raced.failed, strategy);
  // The database has runs of known trials only.
  notes.addRuns(runs);
  return raced;
}

/**
 * Measures a record again. Writes claims if the rule decides. The default replaces a record that is lost.
 * @param isTimeLeft whether more processes than the minimum may run
 * @throws errors of the bench
 */
export async function measureAgain(
  record: TuningRecord,
  subject: Subject,
  bench: Bench,
  store: Store,
  isTimeLeft: () => boolean,
): Promise<Again> {
  const notes = new SearchNotes(store, subject);
  const raced = await raceWithDefault(record, bench, notes, AGAIN, false, isTimeLeft);
  const [failure] = raced?.failed ?? [];
  if (failure !== undefined) return { drift: 'failed', now: null, reason: failure.reason };
  const standing = raced?.standings[0];
  if (raced === null || standing === undefined)
    return { drift: 'busy', now: null, reason: 'the default cannot be measured' };
  const { ratio, low, high } = standing;
  const now = { ratio, low, high };
  const drift = driftOf(standing, record.evidence);
  if (drift === 'busy') return { drift, now, reason: 'timings differ too much from process to process' };
  // A build may have marked the configuration in the meantime.
  if (notes.unmarked(raced).standings.length > 0) write(record, raced, drift === 'lost', notes);
  return { drift, now, reason: null };
}

function driftOf({ verdict, low, high }: Standing, before: Interval): Drift {
  if (verdict === 'nothing') return 'lost';
  if (verdict !== 'claim') return 'busy';
  if (low > before.high) return 'faster';
  return high < before.low ? 'weaker' : 'holds';
}

/** The new claim counts more processes, so it replaces the old one. The interval of a lost record includes 1. */
function write(record: TuningRecord, raced: Race, isLost: boolean, notes: SearchNotes): void {
  const { configuration, evidence: before } = record;
  const standing = raced.standings[0]!;
  const { ratio, low, high, defaultSeconds, processes, repetitions } = standing;
  const evidence = {
    ...notes.evidenceAgain(before, standing, raced),
    ...(isLost && { ratio, low: Math.min(1, low), high, defaultSeconds }),
    processes: before.processes + processes,
    repetitions: before.repetitions + repetitions,
  };
  notes.record({ configuration, evidence });
  if (!isLost) return;
  const { trials, tuningSeconds, families } = evidence;
  // Not complete: the next build with time searches again.
  const searched = { trials, tuningSeconds, families, complete: false };
  notes.record(decisionOf({ ...raced, standings: [] }, searched));
}

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

/** Seconds that one record usually takes. */
const LEAST_SECONDS = 3;

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
  const secondsLeft = countdown(budgetSeconds);
  return measuringAlone({ ...surroundings, device: site.device }, budgetSeconds, signal, async (folder) => {
    for (const [i, record] of records.entries()) {
      if (secondsLeft() < LEAST_SECONDS)
        return because(
          'budget-spent',
          `the time is over: ${records.length - i} of ${records.length} records were not measured`,
        );
      const subject = store.subject(record);
      if (subject === undefined || needsProgram(subject.workloadForm)) continue;
      const own = join(folder, String(i));
      const toolchain = toolchainOf(site, tools, own, surroundings.cacheDirectory, signal);
      const share = Math.max(LEAST_SECONDS, secondsLeft() / (records.length - i));
      const ownLeft = countdown(Math.min(secondsLeft(), share));
      const bench = realBench(toolchain, subject.workloadForm);
      const again = await measureAgain(record, subject, bench, store, () => ownLeft() > 0);
      note({ record, again });
    }
    return null;
  });
}
