// The search for one workload's configuration, batch by batch, and its decision.
import { configurationKey } from '../backend/index.ts';
import type { Configuration } from '../backend/configuration.ts';
import { geometricMean, sumOf } from '../measure/statistics.ts';
import type { Point, SearchSpace } from '../search/space.ts';
import { type Strategy, seededRandom } from '../search/strategy.ts';
import type { Store, TuningRecord } from '../store/store.ts';
import { staticForms, workloadFlops } from '../workload/workload.ts';
import type { Bench, Entry, ReadyBatch } from './bench.ts';
import { begunSpace, isVerifiable, markedIn, VERIFICATION } from './earlier.ts';
import { finalRace, winner } from './final-race.ts';
import { raceWithDefault } from './measure-again.ts';
import { Ranks, SCREENING_ERROR } from './ranks.ts';
import { alternativeOf, decisionOf, defaultResult, type Searched, type TuningResult } from './result.ts';
import type { FinalsEffort, SearchJob, TuningProgress } from './search-job.ts';
import { defaultTrial, runsOf, SearchNotes, trialsOf } from './search-notes.ts';
import { isUnfinished } from './undecided.ts';

/** Compile time of a module without functions, in functions. */
const MODULE = 1.5;

/**
 * Times a compiled batch, when nothing compiles any more.
 * @param timeoutSeconds for the whole batch; with 0, nothing is timed
 * @param preparedSeconds of the budget that compiling took
 */
type Attempt = (timeoutSeconds: number, preparedSeconds: number) => Promise<void>;

/**
 * Races compiled finalists, when nothing compiles any more, and writes the decision.
 * @param isTimeLeft whether more processes than the minimum may run
 * @param preparedSeconds of the budget that compiling took
 * @returns the current record, which may come from another search; null, with a note, if nothing can be decided
 */
type ReadyFinals = (isTimeLeft: () => boolean, preparedSeconds: number) => Promise<TuningResult | null>;

/**
 * Searches for one workload, one batch after the other, and decides. Only the search itself sets its fields. Marked configurations are neither tried nor chosen. Trials are
 * written batch by batch, so an interruption loses no measurement. Methods throw the errors of the bench.
 */
export class WorkloadSearch {
  /** Batches so far, and batches in a row without a gain. */
  batches = 0;
  idle = 0;
  /** Whether nothing can be decided. */
  isUndecidable = false;
  /** Seconds of the slowest batch, and of the slowest timing of a batch, without compiling. */
  batchSeconds = 0;
  timingSeconds = 0;
  readonly #bench: Bench;
  readonly #notes: SearchNotes;
  readonly #job: SearchJob;
  readonly #isMarked: (configuration: Configuration) => boolean;
  readonly #space: SearchSpace<Configuration>;
  /** Whether it continues a search without a result: that search's time counts, and its trials are not repeated. */
  readonly #goesOn: boolean;
  readonly #strategy: Strategy;
  /** The winner on another device of the class, until it was compared with the default on this device. */
  #alike: TuningRecord | null;
  readonly #ranks = new Ranks();
  /** Points of the strategy by the keys of their configurations. */
  readonly #pointOf = new Map<string, Point>();
  /** Seconds of the default in each batch (over sizes, geometric means), and its repetitions in all batches. */
  readonly #default = { means: [] as number[], repetitions: 0 };
  /** Configurations outside the space's points. Each is tried once, even if the strategy ends early. */
  #others: readonly Configuration[];
  #trials = 0;
  /** Whether the strategy has more to propose. */
  #hasPoints = true;
  /** Whether follow-ups of the first batch were asked for. */
  #isFollowed = false;
  /** Whether a batch was compiled too late to be timed. */
  #isCut = false;
  /** Longest compile of one configuration, on average over its batch. */
  #compileSeconds = 0;
  #tuningSeconds = 0;

  constructor(bench: Bench, store: Store, job: SearchJob) {
    this.#bench = bench;
    this.#notes = new SearchNotes(store, job.subject);
    this.#job = job;
    const { subject, backend, options, strategy, alike } = job;
    this.#isMarked = markedIn(store, subject);
    // A user's own choice of configurations is tried again whenever the user asks.
    this.#goesOn =
      options.only === undefined && this.#notes.before !== null && isUnfinished(this.#notes.before, Infinity);
    this.#alike = alike && isVerifiable(store, subject, alike, this.#isMarked) ? alike : null;
    const beginning = { backend, options, alike: this.#alike, goesOn: this.#goesOn };
    this.#space = begunSpace(store, subject, beginning);
    this.#strategy = strategy(this.#space, seededRandom(1));
    this.#others = this.#space.alternatives;
  }

  /** Whether a winner of another device is left to verify. */
  get isVerifiable(): boolean {
    return this.#alike !== null;
  }

  /** Seconds of one run of the default at every size; NaN before it was timed. */
  get defaultSeconds(): number {
    const { defaults } = this.#ranks;
    return defaults.length === 0 ? NaN : sumOf(defaults);
  }

  /** The default's time over the time of the best configuration; 0 without one. */
  get ratio(): number {
    return this.#ranks.incumbent?.ratio ?? 0;
  }

  /** Whether there is nothing left to try. */
  get isOver(): boolean {
    return this.isUndecidable || (!this.#isSearching && this.#others.length === 0 && !this.#hasFollowUps);
  }

  get #isComplete(): boolean {
    return this.isOver && !this.#isCut;
  }

  /** Expected seconds of the finals: two builds, and measuring. */
  finalsSeconds(effort: FinalsEffort): number {
    const entry = this.#entry(effort);
    // Brief finals reuse a module of the search.
    const modules = entry.isBrief ? 1 : 2;
    const compiling = modules * (entry.finalists.length + 1 + MODULE) * this.#compileSeconds;
    return compiling + this.#bench.finalsSeconds(entry);
  }

  /**
   * Compares the winner of another device of the class with the default, once. That takes seconds instead of a search.
   * @param isTimeLeft whether more processes than the minimum may run
   * @returns the decision if the winner is faster here too, with this device's own evidence; else null, and the search begins with it
   */
  async verify(isTimeLeft: () => boolean): Promise<TuningResult | null> {
    const alike = this.#alike;
    if (alike === null) return null;
    this.#alike = null;
    const begun = this.#job.clock();
    const notes = this.#notes;
    this.#report('finals');
    const raced = await raceWithDefault(alike, this.#bench, notes, VERIFICATION, true, isTimeLeft);
    this.#tuningSeconds += this.#job.clock() - begun;
    const unmarked = raced && notes.unmarked(raced);
    if (unmarked === null || winner(unmarked) === null) return null;
    // Families and completeness of the other device's search hold for the whole class.
    const { families, complete } = alike.evidence;
    const searched = { trials: 1, tuningSeconds: this.#tuningSeconds, families, complete };
    return notes.record(decisionOf(unmarked, searched));
  }

  /**
   * Chooses and compiles the next batch. It has to be timed before the next call.
   * @param size number of configurations, about
   * @param timeoutSeconds of the compile
   * @param modules that may be compiled at once
   * @returns null if there is nothing left to try
   */
  async prepare(size: number, timeoutSeconds: number, modules: number): Promise<Attempt | null> {
    const isFirst = this.#trials === 0;
    if (this.#hasFollowUps) this.#others = await this.#followUps(size);
    const others = this.#others;
    this.#others = [];
    const room = Math.max(1, Math.min(size, this.#mostTrials - this.#trials) - (isFirst ? 0 : others.length));
    const points = this.#isSearching ? this.#strategy.propose(room) : [];
    if (points.length === 0) this.#hasPoints = false;
    const tried = [...points.map((point) => this.#space.configurationAt(point)!), ...others];
    if (tried.length === 0) {
      if (isFirst) this.#giveUp('there is nothing to try');
      return null;
    }
    for (const [i, point] of points.entries()) this.#pointOf.set(configurationKey(tried[i]!), point);
    const timed = [...tried, ...this.#ranks.timedAgain];
    const batch = await this.#bench.prepareBatch(timed, timeoutSeconds, modules);
    return async (timeoutSeconds, preparedSeconds) => {
      const begun = this.#job.clock();
      await this.#time(tried, batch, timeoutSeconds);
      const timing = this.#job.clock() - begun;
      const seconds = preparedSeconds + timing;
      this.timingSeconds = Math.max(this.timingSeconds, timing);
      this.batchSeconds = Math.max(this.batchSeconds, seconds);
      this.#compileSeconds = Math.max(this.#compileSeconds, preparedSeconds / timed.length);
      this.#tuningSeconds += seconds;
      this.#report('search');
    };
  }

  /** Compiles and verifies the best configurations for the finals. */
  async prepareFinals(effort: FinalsEffort): Promise<ReadyFinals> {
    const complete = this.#isComplete;
    this.#report('finals');
    const finals = await this.#bench.prepareFinals(this.#entry(effort));
    return async (isTimeLeft, preparedSeconds) => {
      const begun = this.#job.clock();
      const raced =
        finals &&
        (await finalRace(finals, isTimeLeft, (process, round) => {
          this.#notes.addRuns(runsOf(finals.contestants, process, 'finals', round));
        }));
      this.#tuningSeconds += preparedSeconds + this.#job.clock() - begun;
      if (raced === null) return this.#giveUp('the default could not be measured beside the best candidates');
      this.#notes.addFailures(raced.failed, this.#strategy.name);
      const searched = this.#searched(complete);
      const unmarked = this.#notes.unmarked(raced);
      const result = decisionOf(unmarked, searched);
      const alternative = alternativeOf(result, unmarked, searched);
      if (alternative !== null) this.#notes.record(alternative);
      return this.#notes.record(result, { raced, searched });
    };
  }

  /** Decides for the default by the batches alone, if no configuration seems to be faster. */
  settleForDefault(): TuningResult {
    return this.#notes.record(defaultResult(this.#default, this.#searched(this.#isComplete)));
  }

  /** Whether the strategy is asked for more. */
  get #isSearching(): boolean {
    const patience = Math.min(this.#job.effort.patience, this.#strategy.patience ?? Infinity);
    return this.#hasPoints && this.#trials < this.#mostTrials && this.idle < patience;
  }

  get #mostTrials(): number {
    return Math.min(this.#job.effort.maxTrials, this.#strategy.enough ?? Infinity);
  }

  get #hasFollowUps(): boolean {
    return this.#trials > 0 && !this.#isFollowed;
  }

  /** Configurations that follow from the best of the first batch. */
  async #followUps(count: number): Promise<Configuration[]> {
    this.#isFollowed = true;
    const { subject, backend, options } = this.#job;
    const best = this.#ranks.best(count).map((one) => ({ ...one, seconds: this.#secondsOf(one.ratio) }));
    const found = await backend.wholeProgram?.followUps(subject.workloadForm, best, options, (...of) =>
      this.#bench.textAfter(...of),
    );
    return (found ?? []).filter((one) => !this.#isMarked(one));
  }

  async #time(tried: readonly Configuration[], ready: ReadyBatch, timeoutSeconds: number): Promise<void> {
    const ranks = this.#ranks;
    const strategy = this.#strategy;
    const { incumbent } = ranks;
    const batch = await ready.time(timeoutSeconds);
    const { contestants, processes, failed, problem } = batch;
    if (this.batches > 0 && processes.length === 0 && failed.length === 0) {
      this.#isCut = true;
      return;
    }
    ranks.observe(batch);
    const isFirst = this.#trials === 0;
    const isKnown = ranks.defaults.length > 0;
    const outcomes = trialsOf(batch, ranks.defaults, strategy.name);
    strategy.observe(
      outcomes.flatMap(({ configuration }) => {
        const point = this.#pointOf.get(configurationKey(configuration));
        const ratio = ranks.ratioOf(configuration);
        return point === undefined ? [] : [{ point, cost: ratio && 1 / ratio }];
      }),
    );
    // In the order of the batch. A configuration that is timed again is no new trial.
    const trials = tried.flatMap((one) => outcomes.filter(({ configuration }) => configuration === one));
    this.#notes.addTrials(
      isFirst && isKnown ? [defaultTrial(this.#secondsOf(1), strategy.name), ...trials] : trials,
    );
    // Without a default there is nothing to compare with.
    if (!isKnown) {
      this.#giveUp(problem);
      return;
    }
    const runs = processes.flatMap((process) => runsOf(contestants, process, 'search', this.batches));
    this.#notes.addRuns(runs);
    this.batches++;
    this.#trials += trials.length;
    for (const { defaultSeconds, repetitions } of processes) {
      if (defaultSeconds === null) continue;
      this.#default.means.push(geometricMean(defaultSeconds));
      this.#default.repetitions += repetitions;
    }
    // The ratio of the earlier incumbent with its latest timing.
    const [then, now] = [incumbent && ranks.ratioOf(incumbent.configuration), ranks.incumbent];
    const isBetter = now !== null && now.ratio > (then ?? 0) * (1 + SCREENING_ERROR);
    this.idle = isBetter ? 0 : this.idle + 1;
  }

  /** @param reason to be noted; null if the machine is busy */
  #giveUp(reason: string | null): null {
    this.isUndecidable = true;
    if (reason !== null) this.#notes.undecided(reason, this.#job.budgetSeconds);
    return null;
  }

  /** Seconds of one execution at that ratio; over sizes, the geometric mean. */
  #secondsOf(ratio: number): number {
    return geometricMean(this.#ranks.defaults) / ratio;
  }

  #entry({ finalists: most, isBrief }: FinalsEffort): Entry {
    return { finalists: this.#ranks.finalists(most), defaultSeconds: this.defaultSeconds, isBrief };
  }

  /** Evidence of this search and those that it continues. */
  #searched(complete: boolean): Searched {
    const { subject, backend, options } = this.#job;
    const spent = this.#goesOn ? this.#notes.before!.evidence : { trials: 0, tuningSeconds: 0 };
    return {
      trials: spent.trials + this.#trials,
      tuningSeconds: spent.tuningSeconds + this.#tuningSeconds,
      families: backend.tuning(subject.workloadForm).families(options),
      complete: complete && options.only === undefined,
    };
  }

  #report(stage: TuningProgress['stage']): void {
    const { workload, workloadForm } = this.#job.subject;
    this.#job.onProgress?.({
      workload,
      flops: geometricMean(staticForms(workloadForm).map(workloadFlops)),
      stage,
      trials: this.#trials,
      defaultSeconds: this.#trials === 0 ? NaN : this.#secondsOf(1),
      bestSeconds: this.ratio === 0 ? Infinity : this.#secondsOf(this.ratio),
    });
  }
}
