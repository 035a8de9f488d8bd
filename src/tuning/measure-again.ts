// Measures a record again: the finals that made it, with its configuration and the default.
import type { Interval } from '../measure/statistics.ts';
import type { Run, Store, Subject, Trial, TuningRecord } from '../store/store.ts';
import { staticForms } from '../workload/workload.ts';
import type { Bench, Failure } from './bench.ts';
import { DEFAULT_CONFIGURATION } from '../backend/configuration.ts';
import { markedIn } from './earlier.ts';
import { finalRace, type Race, type Standing } from './final-race.ts';
import { decisionOf } from './result.ts';
import { SearchNotes } from './search-notes.ts';
import { evidenceAgain, finalsOf } from './timed-again.ts';
import { defaultTrial, failedTrial, runsOf } from './trials.ts';

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
 * Measures a record's configuration beside the default. Writes runs and trials in any case, and claims if the rule decides. The
 * default replaces a record that is lost.
 * @param isTimeLeft whether more processes than the minimum may run
 * @throws errors of the bench
 */
export async function measureAgain(
  record: TuningRecord,
  subject: Subject,
  bench: Bench,
  store: Store,
  createdBy: string,
  isTimeLeft: () => boolean,
): Promise<Again> {
  const { configuration, evidence } = record;
  const sizes = staticForms(subject.workloadForm).length;
  const notes = new SearchNotes(store, subject, createdBy);
  const finals = await bench.prepareFinals(
    [configuration],
    { ofDefault: sizes * evidence.defaultSeconds, ofFinalists: [sizes * evidence.seconds] },
    false,
  );
  if (finals === null) return { drift: 'busy', now: null, reason: 'the default cannot be measured' };
  const runs: Run[] = [];
  const raced =
    finals.contestants.length === 0
      ? null
      : await finalRace(finals, isTimeLeft, (process, round) => {
          runs.push(...runsOf(finals.contestants, process, 'finals', round));
        });
  const [failure] = [...(raced ?? finals).failed];
  if (failure !== undefined) return failed(failure, notes);
  const standing = raced?.standings[0];
  if (raced === null || standing === undefined)
    return { drift: 'busy', now: null, reason: 'the default could not be timed' };
  const { seconds, ratio } = standing;
  const timed: Trial = { configuration, outcome: 'measured', seconds, ratio, message: null, strategy: AGAIN };
  notes.addTrials([defaultTrial(raced.defaultSeconds, AGAIN), timed]);
  notes.addRuns(runs);
  const drift = driftOf(standing, evidence);
  const now = { ratio, low: standing.low, high: standing.high };
  if (drift === 'busy') return { drift, now, reason: 'timings differ too much from process to process' };
  // A build may have marked the configuration in the meantime.
  if (!markedIn(store, subject)(configuration))
    write(record, { raced, standing, isLost: drift === 'lost' }, subject, store, createdBy);
  return { drift, now, reason: null };
}

function failed(failure: Failure, notes: SearchNotes): Again {
  notes.addTrials([failedTrial(failure, AGAIN)]);
  notes.markWrong([failure]);
  return { drift: 'failed', now: null, reason: failure.reason };
}

function driftOf({ verdict, low, high }: Standing, before: Interval): Drift {
  if (verdict === 'nothing') return 'lost';
  if (verdict !== 'claim') return 'busy';
  if (low > before.high) return 'faster';
  return high < before.low ? 'weaker' : 'holds';
}

interface Found {
  readonly raced: Race;
  readonly standing: Standing;
  readonly isLost: boolean;
}

/** The new claim counts more processes, so it replaces the old one. The interval of a lost record includes 1. */
function write(
  { configuration, evidence: before }: TuningRecord,
  { raced, standing, isLost }: Found,
  subject: Subject,
  store: Store,
  createdBy: string,
): void {
  const written = { createdAt: new Date().toISOString(), createdBy };
  const { trials, tuningSeconds, families, complete } = before;
  const searched = { trials, tuningSeconds, families, complete };
  const finals = isLost ? [] : finalsOf(store.runs(subject), configuration);
  const pooled = evidenceAgain(finals, standing, raced, before, searched);
  const { ratio, low, high, seconds, defaultSeconds, maxError } = standing;
  const { noiseFloor } = raced;
  const evidence = {
    ...(pooled ?? { ...searched, ...{ ratio, low, high, seconds, defaultSeconds, noiseFloor, maxError } }),
    processes: before.processes + standing.processes,
    repetitions: before.repetitions + standing.repetitions,
  };
  const own = isLost ? { ...evidence, low: Math.min(1, low) } : evidence;
  store.putRecord(subject, { configuration, evidence: own, ...written });
  if (!isLost) return;
  // Not complete: the next build with time searches again.
  const { evidence: ofDefault } = decisionOf({ ...raced, standings: [] }, { ...searched, complete: false });
  store.putRecord(subject, { configuration: DEFAULT_CONFIGURATION, evidence: ofDefault, ...written });
}
