// Records measured again: the same finals that made them, of one configuration and the default.
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
 * - `holds`: as fast as recorded, as far as both intervals tell; `faster` and `weaker`: surely more or less, and still faster than the default.
 * - `lost`: not faster than the default any more.
 * - `failed`: it does not compile or run any more, or its output is wrong.
 * - `busy`: timings differ too much to tell; nothing is changed.
 */
export type Drift = 'holds' | 'faster' | 'weaker' | 'lost' | 'failed' | 'busy';

export interface Again {
  readonly drift: Drift;
  /** Of this measurement; null where there is none. */
  readonly now: Interval | null;
  /** Why it failed, or could not be told. */
  readonly reason: string | null;
}

/** The name under which trials of such measurements are kept. */
const AGAIN = 'again';

/**
 * Measures a record's configuration beside the default and writes down what comes of it: runs and trials in any case, claims where
 * the rule decides. A record that is lost is replaced by the default.
 * @param isTimeLeft whether more may be timed than it takes at least
 * @throws what the bench throws
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
  // Meanwhile a build may have failed with it: then it is used no more, whatever is written.
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

/** The claim has more processes than before, so that it takes the place of that one; one that is lost says so by its interval. */
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
  // The next build searches again, as far as it has time.
  const { evidence: ofDefault } = decisionOf({ ...raced, standings: [] }, { ...searched, complete: false });
  store.putRecord(subject, { configuration: DEFAULT_CONFIGURATION, evidence: ofDefault, ...written });
}
