// Database entries of one search, and entries that other processes made during it.
import { DEFAULT_CONFIGURATION, type Configuration } from '../backend/configuration.ts';
import { configurationKey, configurationText } from '../backend/index.ts';
import { geometricMean } from '../measure/statistics.ts';
import { writtenNow } from '../store/author.ts';
import type { Evidence, Run, Store, Subject, Trial, TuningRecord } from '../store/store.ts';
import type { Batch, Contestant, Failure, TimedProcess } from './bench.ts';
import { markedIn, recordOf } from './earlier.ts';
import type { Race, Standing } from './final-race.ts';
import type { Searched, TuningResult } from './result.ts';
import { judge, type Process } from './rule.ts';
import type { Rated } from './worth.ts';

/** The view of one search on the database. Methods throw the errors of the store. */
export class SearchNotes {
  readonly #store: Store;
  readonly subject: Subject;
  /** The record before this search. */
  readonly before: TuningRecord | null;

  constructor(store: Store, subject: Subject) {
    this.#store = store;
    this.subject = subject;
    this.before = recordOf(store, subject);
  }

  addTrials(trials: readonly Trial[]): void {
    this.#store.addTrials(this.subject, trials);
  }

  addRuns(runs: readonly Run[]): void {
    this.#store.addRuns(this.subject, runs);
  }

  /** Adds failures of a race as trials and marks. */
  addFailures(failed: readonly Failure[], strategy: string): void {
    this.addTrials(failed.map((one) => failedTrial(one, strategy)));
    this.markWrong(failed);
  }

  /** Marks configurations with a wrong output. */
  markWrong(failed: readonly Failure[]): void {
    const written = writtenNow();
    this.#store.addMarks(
      this.subject,
      failed.flatMap(({ configuration, outcome, reason }) =>
        outcome === 'wrong-result' ? [{ configuration, kind: outcome, reason, ...written }] : [],
      ),
    );
  }

  /** A race without configurations that a build has marked in the meantime. */
  unmarked(raced: Race): Race {
    const isMarked = markedIn(this.#store, this.subject);
    return { ...raced, standings: raced.standings.filter(({ configuration }) => !isMarked(configuration)) };
  }

  /**
   * @param timedAgain the race that it won; an earlier winner may have been timed again in it
   * @returns the record for the next build, which may be another process' better one
   */
  record(result: TuningResult, timedAgain?: { raced: Race; searched: Searched }): TuningResult {
    this.#store.putRecord(this.subject, { ...result, ...writtenNow() });
    if (timedAgain !== undefined) this.#recordTimedAgain(result, timedAgain.raced, timedAgain.searched);
    return recordOf(this.#store, this.subject) ?? result;
  }

  /** Earlier evidence, replaced by that from all finals of a configuration, those of this race included. */
  evidenceAgain(
    before: Evidence,
    { configuration, seconds, defaultSeconds, processes, repetitions, maxError, ...last }: Standing,
    { noiseFloor }: Race,
  ): Evidence {
    const finals = finalsOf(this.#store.runs(this.subject), configuration);
    const isPooled = finals.length > processes;
    const { ratio, low, high } = isPooled ? judge(finals) : last;
    return {
      ...before,
      ...{ ratio, low, high, seconds, noiseFloor },
      // Times of one race would contradict the gain of all races.
      defaultSeconds: isPooled ? seconds * ratio : defaultSeconds,
      processes: isPooled ? finals.length : processes,
      repetitions: repetitions + (isPooled ? before.repetitions : 0),
      maxError: Math.max(maxError, before.maxError),
    };
  }

  /** Replaces the evidence of an earlier winner that lost this race, or its old evidence would go on winning. */
  #recordTimedAgain({ configuration: best }: TuningResult, raced: Race, searched: Searched): void {
    if (this.before === null) return;
    const { configuration, evidence } = this.before;
    const key = configurationKey(configuration);
    const standing = raced.standings.find((one) => configurationKey(one.configuration) === key);
    if (standing === undefined || key === configurationKey(best)) return;
    const complete = searched.complete || evidence.complete;
    this.record({
      configuration,
      evidence: { ...this.evidenceAgain(evidence, standing, raced), ...searched, complete },
    });
  }

  /** @param budgetSeconds of this try; a larger budget tries again */
  undecided(reason: string, budgetSeconds: number): void {
    this.#store.noteUndecided(this.subject, reason, budgetSeconds);
  }
}

interface Timed extends Rated {
  /** Of one execution; over sizes, the geometric mean. */
  readonly seconds: number;
}

export const timedTrial = ({ configuration, seconds, ratio }: Timed, strategy: string): Trial => ({
  ...{ configuration, strategy, seconds, ratio },
  ...{ outcome: 'measured', message: null },
});

/** The default as a trial, so that the table of trials shows the baseline. */
export const defaultTrial = (seconds: number, strategy: string): Trial =>
  timedTrial({ configuration: DEFAULT_CONFIGURATION, seconds, ratio: 1 }, strategy);

/**
 * Trials of a batch.
 * @param defaults seconds of the default in it, at each size; empty if the default could not be timed
 */
export function trialsOf(
  { contestants, processes, failed }: Pick<Batch, 'contestants' | 'processes' | 'failed'>,
  defaults: readonly number[],
  strategy: string,
): Trial[] {
  const timed = contestants.flatMap(({ name, configuration }) => {
    const ratios = processes.flatMap(({ seconds, defaultSeconds }) => {
      const own = seconds.get(name);
      return own === undefined ? [] : [geometricMean(defaultSeconds ?? defaults) / geometricMean(own)];
    });
    if (ratios.length === 0 || defaults.length === 0) return [];
    const ratio = geometricMean(ratios);
    return [timedTrial({ configuration, ratio, seconds: geometricMean(defaults) / ratio }, strategy)];
  });
  return [...timed, ...failed.map((one) => failedTrial(one, strategy))];
}

const failedTrial = ({ configuration, outcome, reason }: Failure, strategy: string): Trial => ({
  ...{ configuration, strategy, outcome, message: reason },
  ...{ seconds: null, ratio: null },
});

/**
 * Runs of one process, one for each contestant.
 * @param batch of the search, or process of the finals
 */
export const runsOf = (
  contestants: readonly Contestant[],
  { placement, build, defaultSeconds, seconds: all }: TimedProcess,
  stage: Run['stage'],
  batch: number,
): Run[] =>
  contestants.flatMap(({ name, configuration }): Run[] => {
    const seconds = all.get(name);
    if (seconds === undefined) return [];
    return [{ configuration, stage, batch, placement, build, seconds, defaultSeconds }];
  });

/**
 * Processes of all finals of a configuration.
 * @param runs of its subject, in the order in which they were added
 */
export function finalsOf(runs: readonly Run[], configuration: Configuration): Process[] {
  const text = configurationText(configuration);
  const own = runs.filter(
    ({ stage, configuration: one }) => stage === 'finals' && configurationText(one) === text,
  );
  // Each build has its own code layout, so a stratum of another tuning is another stratum.
  let tuning = 0;
  return own.flatMap(({ batch, placement, build, seconds, defaultSeconds }, i) => {
    if (i > 0 && batch <= own[i - 1]!.batch) tuning++;
    if (defaultSeconds === null || seconds.length !== own[0]!.seconds.length) return [];
    const gains = seconds.map((value, size) => Math.log(defaultSeconds[size]! / value));
    return [{ stratum: `${tuning} ${placement} ${build}`, gains }];
  });
}
