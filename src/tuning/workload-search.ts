// The search for one workload's configuration, batch by batch, and the decision in the end.
import { configurationKey } from '../backend/index.ts';
import type { Configuration } from '../backend/configuration.ts';
import { geometricMean, sumOf } from '../measure/statistics.ts';
import { type Point, type SearchSpace, without } from '../search/space.ts';
import { type Strategy, seededRandom } from '../search/strategy.ts';
import type { Run, Store, Trial, TuningRecord } from '../store/store.ts';
import { staticForms, workloadFlops } from '../workload/workload.ts';
import type { Bench, Field, ReadyBatch } from './bench.ts';
import { besideOf, finalistsOf } from './beside.ts';
import { begunSpace, isVerifiable, markedIn, trialElsewhere, VERIFICATION } from './earlier.ts';
import { spaceWithPrior } from './prior.ts';
import { finalRace, winner, type Race } from './final-race.ts';
import { Ranks } from './ranks.ts';
import { decisionOf, defaultResult, type Searched, type TuningResult } from './result.ts';
import type { Attempt, FinalsCare, ReadyFinals, SearchJob, TuningProgress } from './search-job.ts';
import { SearchNotes } from './search-notes.ts';
import { defaultTrial, failedTrial, runsOf, trialsOf } from './trials.ts';
import { isUnfinished } from './undecided.ts';

/** A gain smaller than this does not keep a search going. */
const PATIENCE_GAIN = 0.03;

/** What a module takes to compile beside its functions, in functions. */
const MODULE = 1.5;

/**
 * Searches for one workload, one batch after the other, and decides. Configurations that are marked are neither tried nor
 * decided for. Trials are written batch by batch, so whatever interrupts the search loses nothing that was measured.
 * Its methods throw what the bench throws.
 */
export class WorkloadSearch {
  readonly #bench: Bench;
  readonly #notes: SearchNotes;
  readonly #job: SearchJob;
  readonly #isMarked: (configuration: Configuration) => boolean;
  readonly #space: SearchSpace<Configuration>;
  /** Whether it goes on with one that found nothing and did not end: what that spent counts, and what it tried is known. */
  readonly #goesOn: boolean;
  readonly #strategy: Strategy;
  /** What won on another device of the class, as long as it was not compared with the default on this one. */
  #alike: TuningRecord | null;
  readonly #ranks = new Ranks();
  /** Where the strategy proposed a configuration, by its key. */
  readonly #pointOf = new Map<string, Point>();
  /** Of each batch that the default was timed in, over sizes their geometric mean. */
  readonly #defaultMeans: number[] = [];
  /** How often it was timed in all of them. */
  #repetitions = 0;
  #batches = 0;
  /** What no point leads to and is tried once, however soon the strategy comes to its end. */
  #others: readonly Configuration[];
  #trials = 0;
  #idle = 0;
  /** Whether the strategy has more to propose. */
  #hasPoints = true;
  /** Whether it was asked what follows from the first batch. */
  #isFollowed = false;
  #isUndecidable = false;
  #slowestBatch = 0;
  /** That one configuration took at most to compile, on average over its batch. */
  #compileSeconds = 0;
  #tuningSeconds = 0;

  constructor(bench: Bench, store: Store, job: SearchJob) {
    this.#bench = bench;
    this.#notes = new SearchNotes(store, job.subject, job.createdBy);
    this.#job = job;
    const { subject, backend, options, strategy, alike } = job;
    this.#isMarked = markedIn(store, subject);
    this.#space = without(spaceWithPrior(backend, subject.workloadForm, options), this.#isMarked);
    // What a user allows is tried as often as he asks for it, whatever was tried before.
    this.#goesOn =
      options.only === undefined && this.#notes.before !== null && isUnfinished(this.#notes.before, Infinity);
    this.#alike = alike && isVerifiable(store, subject, alike, this.#isMarked) ? alike : null;
    const beginning = { backend, options, alike: this.#alike, goesOn: this.#goesOn };
    this.#strategy = strategy(begunSpace(store, subject, this.#space, beginning), seededRandom(1));
    this.#others = this.#space.alternatives;
  }

  /** Whether there is something to be verified. */
  get isVerifiable(): boolean {
    return this.#alike !== null;
  }

  /** Batches by now. */
  get batches(): number {
    return this.#batches;
  }

  /** Batches in a row that have brought nothing. */
  get idle(): number {
    return this.#idle;
  }

  /** Seconds of one run of the default at every size; NaN before it was timed. */
  get defaultSeconds(): number {
    const { defaults } = this.#ranks;
    return defaults.length === 0 ? NaN : sumOf(defaults);
  }

  /** How many times as fast as the default the best is that was found; 0 where nothing was. */
  get ratio(): number {
    return this.#ranks.incumbent?.ratio ?? 0;
  }

  /** Whether another batch can bring nothing. */
  get isOver(): boolean {
    return this.#isUndecidable || (!this.#isSearching && this.#others.length === 0 && !this.#hasFollowUps);
  }

  /** Whether there is nothing that could be decided. */
  get isUndecidable(): boolean {
    return this.#isUndecidable;
  }

  /** Seconds that the slowest batch took. */
  get batchSeconds(): number {
    return this.#slowestBatch;
  }

  /** Seconds that the decision is likely to take: compiling them and the default in two builds, and measuring. */
  finalsSeconds({ finalists, isBrief }: FinalsCare): number {
    const likely = Array<number>(finalists).fill(Math.max(1, this.ratio));
    // Of brief ones the search has one build already.
    const compiling = (isBrief ? 1 : 2) * (finalists + 1 + MODULE) * this.#compileSeconds;
    return compiling + this.#bench.finalsSeconds(this.#expected(likely), isBrief);
  }

  /**
   * Compares what won on another device of the class with the default, once: a few seconds instead of a search. Where it is
   * faster here, too, beyond doubt, that is the decision, with this device's own evidence; null otherwise, and the search
   * begins with it.
   * @param isTimeLeft whether more may be timed than it takes at least
   */
  async verify(isTimeLeft: () => boolean): Promise<TuningResult | null> {
    const alike = this.#alike;
    if (alike === null) return null;
    this.#alike = null;
    const begun = this.#job.clock();
    const { subject } = this.#job;
    const { configuration, evidence } = alike;
    this.#report('finals');
    const sizes = staticForms(subject.workloadForm).length;
    const finals = await this.#bench.prepareFinals(
      [configuration],
      { ofDefault: sizes * evidence.defaultSeconds, ofFinalists: [sizes * evidence.seconds] },
      true,
    );
    const runs: Run[] = [];
    const raced = finals && (await this.#race(finals, isTimeLeft, (some) => runs.push(...some)));
    this.#tuningSeconds += this.#job.clock() - begun;
    if (raced === null) return null;
    const timed = raced.standings.map(({ seconds, ratio }): Trial => ({
      ...trialElsewhere(alike),
      seconds,
      ratio,
    }));
    const strategy = VERIFICATION;
    this.#notes.addTrials([
      defaultTrial(raced.defaultSeconds, strategy),
      ...timed,
      ...raced.failed.map((one) => failedTrial(one, strategy)),
    ]);
    this.#notes.addRuns(runs);
    this.#notes.markWrong(raced.failed);
    const unmarked = this.#notes.unmarked(raced);
    if (winner(unmarked) === null) return null;
    // What that device's search could choose from, and whether it came to its end, holds for the class.
    const { families, complete } = evidence;
    const searched = { trials: 1, tuningSeconds: this.#tuningSeconds, families, complete };
    const result = decisionOf(unmarked, searched);
    return this.#notes.record(result);
  }

  /**
   * Chooses some more to be tried, and compiles it. It is to be timed before more is chosen.
   * @param size how many configurations, about
   * @param timeoutSeconds to compile them
   * @param modules that may be compiled at once
   * @returns null when there is nothing to try
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
    return {
      time: async (timeoutSeconds, preparedSeconds) => {
        const begun = this.#job.clock();
        await this.#time(tried, batch, timeoutSeconds);
        const seconds = preparedSeconds + this.#job.clock() - begun;
        this.#slowestBatch = Math.max(this.#slowestBatch, seconds);
        this.#compileSeconds = Math.max(this.#compileSeconds, preparedSeconds / timed.length);
        this.#tuningSeconds += seconds;
        this.#report('search');
      },
    };
  }

  /** Compiles and verifies the best by now, to decide between them and the default. */
  async prepareFinals({ finalists: count, isBrief }: FinalsCare): Promise<ReadyFinals> {
    const complete = this.isOver;
    this.#report('finals');
    const finalists = finalistsOf(this.#ranks, count);
    const finals = await this.#bench.prepareFinals(
      finalists.map(({ configuration }) => configuration),
      this.#expected(finalists.map(({ ratio }) => ratio)),
      isBrief,
    );
    return {
      decide: (isTimeLeft, preparedSeconds) => this.#decide(finals, complete, isTimeLeft, preparedSeconds),
    };
  }

  #race(finals: Field, isTimeLeft: () => boolean, note: (runs: Run[]) => void): Promise<Race | null> {
    return finalRace(finals, isTimeLeft, (process, round) => {
      note(runsOf(finals.contestants, process, 'finals', round));
    });
  }

  /** @param complete whether the search has come to its end */
  async #decide(
    finals: Field | null,
    complete: boolean,
    isTimeLeft: () => boolean,
    preparedSeconds: number,
  ): Promise<TuningResult | null> {
    const begun = this.#job.clock();
    const raced =
      finals &&
      (await this.#race(finals, isTimeLeft, (runs) => {
        this.#notes.addRuns(runs);
      }));
    this.#tuningSeconds += preparedSeconds + this.#job.clock() - begun;
    if (raced === null) return this.#giveUp('the default could not be measured beside the best candidates');
    this.#notes.addTrials(raced.failed.map((one) => failedTrial(one, this.#strategy.name)));
    this.#notes.markWrong(raced.failed);
    const searched = this.#searched(complete);
    const unmarked = this.#notes.unmarked(raced);
    const result = decisionOf(unmarked, searched);
    const beside = besideOf(result, unmarked, searched);
    if (beside !== null) this.#notes.record(beside);
    return this.#notes.record(result, { raced, searched });
  }

  /** Decides for the default by the batches alone: for where nothing that was tried seems to be faster. */
  settleForDefault(): TuningResult {
    const means = this.#defaultMeans;
    const timed = { means, repetitions: this.#repetitions };
    const result = defaultResult(timed, this.#searched(this.isOver));
    return this.#notes.record(result);
  }

  /** Whether the strategy is asked for more. */
  get #isSearching(): boolean {
    return this.#hasPoints && this.#trials < this.#mostTrials && this.#idle < this.#patience;
  }

  get #mostTrials(): number {
    return Math.min(this.#job.effort.maxTrials, this.#strategy.enough ?? Infinity);
  }

  /** Batches in a row without a gain that end the search. */
  get #patience(): number {
    return Math.min(this.#job.effort.patience, this.#strategy.patience ?? Infinity);
  }

  get #hasFollowUps(): boolean {
    return this.#trials > 0 && !this.#isFollowed;
  }

  /** What only the best of the first batch leads to. */
  async #followUps(count: number): Promise<Configuration[]> {
    this.#isFollowed = true;
    const { subject, backend, options } = this.#job;
    const found = await backend.wholeProgram?.followUps(
      subject.workloadForm,
      this.#ranks
        .best(count)
        .map(({ configuration, ratio }) => ({ configuration, seconds: this.#secondsOf(ratio) })),
      options,
      (configuration, phase) => this.#bench.textAfter(configuration, phase),
    );
    return (found ?? []).filter((one) => !this.#isMarked(one));
  }

  async #time(tried: readonly Configuration[], ready: ReadyBatch, timeoutSeconds: number): Promise<void> {
    const ranks = this.#ranks;
    const strategy = this.#strategy;
    const { incumbent } = ranks;
    const batch = await ready.time(timeoutSeconds);
    const { contestants, processes, problem } = batch;
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
    // In their order. What is timed again is no new trial.
    const trials = tried.flatMap((one) => outcomes.filter(({ configuration }) => configuration === one));
    this.#notes.addTrials(
      isFirst && isKnown ? [defaultTrial(this.#secondsOf(1), strategy.name), ...trials] : trials,
    );
    // A default that cannot be compiled or run leaves nothing to compare with.
    if (!isKnown) {
      this.#giveUp(problem);
      return;
    }
    const runs = processes.flatMap((process) => runsOf(contestants, process, 'search', this.#batches));
    this.#notes.addRuns(runs);
    this.#batches++;
    this.#trials += trials.length;
    for (const { defaultSeconds, repetitions } of processes) {
      if (defaultSeconds === null) continue;
      this.#defaultMeans.push(geometricMean(defaultSeconds));
      this.#repetitions += repetitions;
    }
    // As far as both are known by now.
    const [then, now] = [incumbent && ranks.ratioOf(incumbent.configuration), ranks.incumbent];
    const isBetter = now !== null && now.ratio > (then ?? 0) * (1 + PATIENCE_GAIN);
    this.#idle = isBetter ? 0 : this.#idle + 1;
  }

  /** @param reason to be noted; null where there is none but that the machine is busy */
  #giveUp(reason: string | null): null {
    this.#isUndecidable = true;
    if (reason !== null) this.#notes.undecided(reason, this.#job.budgetSeconds);
    return null;
  }

  /** Of one execution at that ratio, over sizes their geometric mean. */
  #secondsOf(ratio: number): number {
    return geometricMean(this.#ranks.defaults) / ratio;
  }

  /** What the bench has to expect of one run at every size. */
  #expected(ratios: readonly number[]) {
    const ofDefault = this.defaultSeconds;
    return { ofDefault, ofFinalists: ratios.map((ratio) => ofDefault / ratio) };
  }

  /** This search and those that it went on from. */
  #searched(complete: boolean): Searched {
    const { subject, backend, options } = this.#job;
    const spent = this.#goesOn ? this.#notes.before!.evidence : { trials: 0, tuningSeconds: 0 };
    return {
      trials: spent.trials + this.#trials,
      tuningSeconds: spent.tuningSeconds + this.#tuningSeconds,
      families: backend.familiesOf(subject.workloadForm, options),
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
