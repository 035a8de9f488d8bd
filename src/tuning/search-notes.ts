// Database entries of one search, and entries that other processes made during it.
import { configurationKey } from '../backend/index.ts';
import { writtenNow } from '../store/author.ts';
import type { Evidence, Run, Store, Subject, Trial, TuningRecord } from '../store/store.ts';
import type { Failure } from './bench.ts';
import { markedIn, recordOf } from './earlier.ts';
import type { Race, Standing } from './final-race.ts';
import type { Searched, TuningResult } from './result.ts';
import { judge } from './rule.ts';
import { finalsOf } from './timed-again.ts';

/** The view of one search on the database. Methods throw the errors of the store. */
export class SearchNotes {
  readonly #store: Store;
  readonly #subject: Subject;
  /** The record before this search. */
  readonly before: TuningRecord | null;

  constructor(store: Store, subject: Subject) {
    this.#store = store;
    this.#subject = subject;
    this.before = recordOf(store, subject);
  }

  addTrials(trials: readonly Trial[]): void {
    this.#store.addTrials(this.#subject, trials);
  }

  addRuns(runs: readonly Run[]): void {
    this.#store.addRuns(this.#subject, runs);
  }

  /** Marks configurations with a wrong output. */
  markWrong(failed: readonly Failure[]): void {
    const written = writtenNow();
    this.#store.addMarks(
      this.#subject,
      failed.flatMap(({ configuration, outcome, reason }) =>
        outcome === 'wrong-result' ? [{ configuration, kind: outcome, reason, ...written }] : [],
      ),
    );
  }

  /** A race without configurations that a build has marked in the meantime. */
  unmarked(raced: Race): Race {
    const isMarked = markedIn(this.#store, this.#subject);
    return { ...raced, standings: raced.standings.filter(({ configuration }) => !isMarked(configuration)) };
  }

  /**
   * @param timedAgain the race that it won; an earlier winner may have been timed again in it
   * @returns the record for the next build, which may be another process' better one
   */
  record(result: TuningResult, timedAgain?: { raced: Race; searched: Searched }): TuningResult {
    this.#store.putRecord(this.#subject, { ...result, ...writtenNow() });
    if (timedAgain !== undefined) this.#recordTimedAgain(result, timedAgain.raced, timedAgain.searched);
    const record = recordOf(this.#store, this.#subject);
    if (record === null) return result;
    const { configuration, evidence, alternative } = record;
    return { configuration, evidence, ...(alternative && { alternative }) };
  }

  /** Earlier evidence, replaced by that from all finals of a configuration, those of this race included. */
  evidenceAgain(
    before: Evidence,
    { configuration, seconds, defaultSeconds, processes, repetitions, maxError, ...last }: Standing,
    { noiseFloor }: Race,
  ): Evidence {
    const finals = finalsOf(this.#store.runs(this.#subject), configuration);
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
    this.#store.noteUndecided(this.#subject, reason, budgetSeconds);
  }
}
