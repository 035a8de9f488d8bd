// What a search writes down, and what others wrote down meanwhile.
import { configurationKey } from '../backend/index.ts';
import type { Run, Store, Subject, Trial, TuningRecord } from '../store/store.ts';
import type { Failure } from './bench.ts';
import { markedIn, recordOf } from './earlier.ts';
import type { Race } from './final-race.ts';
import type { Searched, TuningResult } from './result.ts';
import { evidenceAgain, finalsOf } from './timed-again.ts';

/** The database, as far as one search is concerned. Its methods throw what the store throws. */
export class SearchNotes {
  readonly #store: Store;
  readonly #subject: Subject;
  readonly #createdBy: string;
  /** What builds used until this search. */
  readonly before: TuningRecord | null;

  constructor(store: Store, subject: Subject, createdBy: string) {
    this.#store = store;
    this.#subject = subject;
    this.#createdBy = createdBy;
    this.before = recordOf(store, subject);
  }

  addTrials(trials: readonly Trial[]): void {
    this.#store.addTrials(this.#subject, trials);
  }

  addRuns(runs: readonly Run[]): void {
    this.#store.addRuns(this.#subject, runs);
  }

  /** Marks finalists whose output was wrong. */
  markWrong(failed: readonly Failure[]): void {
    const written = this.#written();
    this.#store.addMarks(
      this.#subject,
      failed.flatMap(({ configuration, outcome, reason }) =>
        outcome === 'wrong-result' ? [{ configuration, kind: outcome, reason, ...written }] : [],
      ),
    );
  }

  /** A race without what is marked by now: a build may have failed with one of them meanwhile. */
  unmarked(raced: Race): Race {
    const isMarked = markedIn(this.#store, this.#subject);
    return { ...raced, standings: raced.standings.filter(({ configuration }) => !isMarked(configuration)) };
  }

  /**
   * @param timedAgain the race that it won, in which what won before may have been timed again
   * @returns what the next build gets: others may have left something better
   */
  record(result: TuningResult, timedAgain?: { raced: Race; searched: Searched }): TuningResult {
    this.#store.putRecord(this.#subject, { ...result, ...this.#written() });
    if (timedAgain !== undefined) this.#recordTimedAgain(result, timedAgain.raced, timedAgain.searched);
    const record = recordOf(this.#store, this.#subject);
    if (record === null) return result;
    const { configuration, evidence, alternative } = record;
    return { configuration, evidence, ...(alternative && { alternative }) };
  }

  /** What won before and does not any more must not go on winning by what it once was. */
  #recordTimedAgain({ configuration: best }: TuningResult, raced: Race, searched: Searched): void {
    if (this.before === null) return;
    const { configuration, evidence } = this.before;
    const key = configurationKey(configuration);
    const standing = raced.standings.find((one) => configurationKey(one.configuration) === key);
    if (standing === undefined || key === configurationKey(best)) return;
    const processes = finalsOf(this.#store.runs(this.#subject), configuration);
    const again = evidenceAgain(processes, standing, raced, evidence, searched);
    if (again === null) return;
    this.#store.putRecord(this.#subject, { configuration, evidence: again, ...this.#written() });
  }

  /** @param budgetSeconds more than that is worth another try */
  undecided(reason: string, budgetSeconds: number): void {
    this.#store.noteUndecided(this.#subject, reason, budgetSeconds);
  }

  #written(): { createdAt: string; createdBy: string } {
    return { createdAt: new Date().toISOString(), createdBy: this.#createdBy };
  }
}
