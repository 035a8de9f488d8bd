// A program of one build on its way through the steps of the algorithm: opened in its forms, looked up, its misses tuned. Each operation gets
// a record, a tuning result, or the default with a reason.
import { findMeasuringTools } from '../compiler/find.ts';
import type { Decision } from '../decision/decision.ts';
import { matchesGenerated } from '../inject/plan.ts';
import type { FormedProgram } from '../plan/inspected.ts';
import { withSurvey } from '../input/operations.ts';
import type { KeptModules } from '../plan/kept-modules.ts';
import { planCompile, type Plan } from '../plan/route.ts';
import { injectedSet, whyLeftOut, type ProgramMemory } from '../running/variants/memory.ts';
import type { Confirmed } from '../running/program-rounds.ts';
import { NOTHING_TUNED, tuneProgram } from '../running/tune-program.ts';
import type { Site } from '../site/site.ts';
import { BUSY, takeTurn } from '../site/turn.ts';
import type { Store } from '../store/store.ts';
import { subjectOf } from '../store/subject.ts';
import { stampsOf, type Stamps } from '../system/files.ts';
import { because, isReason, type Reason } from '../system/reason.ts';
import { messageOf } from '../system/tell.ts';
import { tidyUp } from '../system/tidy.ts';
import { shareOf } from '../tuning/schedule.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { isUnfinished, isWorthAnotherTry } from '../tuning/undecided.ts';
import type { Means, OpenProgram } from './open-program.ts';

export interface BuildMeans extends Means {
  /** Why there is no database; null if there is one. */
  readonly problem: Reason | null;
  readonly kept: KeptModules;
}

/** Decisions about all operations of a program. */
export interface Tuned {
  readonly decisions: readonly Decision[];
  /** Seconds of tuning, and of waiting for the measuring lock. */
  readonly seconds: number;
  /** Whether the next build decides the same: nothing is left to tune or to note. */
  readonly isFinal: boolean;
  /** States of other files that the decisions depend on, before anything was measured. */
  readonly files: Stamps;
  /** Configurations that the program ran with while it was tuned; null for none. */
  readonly confirmed: Confirmed | null;
}

/** Before `tune`. */
const UNDECIDED: Tuned = { decisions: [], seconds: 0, isFinal: false, files: [], confirmed: null };

export class Build {
  readonly means: BuildMeans;
  /** In the forms in which it is compiled; with a survey if it had misses. */
  program: OpenProgram;
  /** Why nothing is measured in this build; null if measuring is allowed. */
  whyNot: Reason | null = null;
  tuned = UNDECIDED;
  readonly budget: Budget;
  /** The verdict of the last run before this build. */
  readonly #verdictBefore: ProgramMemory | null;
  /** When the program was looked up first. */
  #began: number;

  constructor(program: OpenProgram, means: BuildMeans) {
    this.means = means;
    this.program = program;
    this.budget = new Budget(means.surroundings.settings.budgetSeconds);
    this.#verdictBefore = program.memory;
    this.#began = program.since;
  }

  /**
   * Looks the program up, in a build that tunes nothing also by the generated operations.
   * @param program the same program, perhaps with a survey now
   */
  async lookUp(program: FormedProgram = this.program): Promise<void> {
    const { store, surroundings } = this.means;
    if (program !== this.program) this.program = this.program.again(program);
    const { site } = program.inspected;
    const whySpent = this.budget.leftSeconds > 0 ? null : because('budget-spent');
    this.whyNot = whyUntuned(this.means, site) ?? whySpent;
    const isMissing = () => store !== null && this.program.lookup.misses.length > 0;
    // A miss by the text can be a hit by the generated operations. A build that tunes makes the survey later.
    if (this.whyNot === null || !isMissing()) return;
    const surveyed = await withSurvey(this.program, surroundings);
    if (surveyed !== this.program) await this.lookUp(surveyed);
  }

  /** Decides about every operation. Tunes misses if the settings allow it. @returns the plan with these decisions */
  async tune(): Promise<Plan> {
    const { store, surroundings } = this.means;
    this.tuned =
      this.whyNot !== null || store === null
        ? await this.#withoutTuning(this.program.lookup.misses)
        : await this.#tuneMisses(store);
    this.budget.spend(this.tuned.seconds);
    return planCompile(this.program, this.tuned.decisions, surroundings);
  }

  /** Tunes nothing. Notes misses if a setting says so. */
  async #withoutTuning(open: readonly Work[], files: Stamps = []): Promise<Tuned> {
    const { store, surroundings } = this.means;
    const { settings, cacheDirectory } = surroundings;
    const { site, input } = this.program.inspected;
    const { onMiss, budgetSeconds, readonly } = settings;
    if (open.length > 0) tidyUp(cacheDirectory);
    const isNoted = open.length > 0 && onMiss === 'record';
    if (isNoted && store !== null && !readonly)
      for (const miss of this.program.lookup.misses) store.noteMiss(subjectOf(miss, site));
    const { whyNotHere } = site;
    const wantsTuning = onMiss === 'tune' && budgetSeconds > 0 && open.length > 0;
    if (wantsTuning && whyNotHere !== null && whyNotHere.code !== 'other-device') {
      const { terminalOf } = await import('../report/terminal.ts');
      terminalOf(cacheDirectory).measureNothing(site.target.target.backend, whyNotHere.reason);
    }
    return {
      ...{ files, confirmed: null },
      decisions: this.program.decide(new Map(), this.whyNot ?? undefined),
      seconds: input.waitedSeconds,
      isFinal: open.length === 0 || (store !== null && !isNoted),
    };
  }

  async #tuneMisses(store: Store): Promise<Tuned> {
    const { surroundings, kept } = this.means;
    const { settings, cacheDirectory } = surroundings;
    const { waitedSeconds } = this.program.inspected.input;
    const before = this.#toTune();
    if (before.works.length === 0) return this.#withoutTuning([], before.files);
    // A build that is no hit has the time to remove files of killed builds.
    tidyUp(cacheDirectory);

    const begun = performance.now();
    const seconds = () => waitedSeconds + (performance.now() - begun) / 1000;
    const surveyed = await this.#survey(patienceFor(before.works));
    if (isReason(surveyed)) {
      // The build that held the lock may have tuned the same workloads.
      this.program = this.program.again();
      const decisions = this.program.decide(new Map(), surveyed);
      return { decisions, seconds: seconds(), isFinal: false, confirmed: null, files: before.files };
    }
    if (surveyed !== this.program) await this.lookUp(surveyed);
    const { program } = this;
    const { works, files } = this.#toTune();
    const tuned =
      works.length === 0
        ? NOTHING_TUNED
        : await tuneProgram(works, program.with(program.decide(new Map())), {
            ...{ surroundings, kept, store, began: this.#began },
            budgetSeconds: this.budget.leftSeconds - seconds(),
            patienceSeconds: patienceFor(works),
          });
    const { results, undecided, whyNot, confirmed } = tuned;
    const share = shareOf(settings.budgetSeconds, works.length);
    const isFinal = works.every(({ key }) => {
      const known = results.get(key);
      return known === undefined ? undecided.has(key) : !isUnfinished(known, share);
    });
    const decisions = program.decide(results, whyNot, undecided);
    return { decisions, seconds: seconds(), isFinal, confirmed, files };
  }

  /**
   * All open workloads but those that this program runs slower with, or that need more time than this build has; and the tools that they
   * depend on.
   */
  #toTune(): { readonly works: readonly Work[]; readonly files: Stamps } {
    const { lookup, memory, command } = this.program;
    const { surroundings } = this.means;
    const missed = lookup.misses.filter(
      ({ key }) => whyLeftOut(memory, key, lookup.marked.get(key)) === null,
    );
    const works = [...missed, ...lookup.narrow, ...lookup.unfinished];
    if (works.length === 0 || lookup.undecided().size === 0) return { works, files: [] };
    const tools = Object.values(findMeasuringTools(command.compiler, surroundings.env, surroundings) ?? {});
    const files = stampsOf(tools);
    const seconds = shareOf(surroundings.settings.budgetSeconds, works.length);
    const isWorthIt = ({ key }: Work) => {
      const before = lookup.undecided().get(key);
      return before === undefined || isWorthAnotherTry(before, seconds, tools);
    };
    return { works: works.filter(isWorthIt), files };
  }

  /**
   * Surveys the input while nothing is measured on the machine. Waits for the measuring lock, by default as long as the budget lasts.
   * @returns the reason if there is no survey: another build held the lock, or nothing can be written
   */
  async #survey(patienceSeconds?: number): Promise<FormedProgram | Reason> {
    const { surroundings } = this.means;
    const { surveyed, waitedSeconds } = this.program.inspected.input;
    if (surveyed) return this.program;
    const patience = patienceSeconds ?? surroundings.settings.budgetSeconds - waitedSeconds;
    try {
      using turn = await takeTurn(surroundings, patience);
      return turn === null ? BUSY : await withSurvey(this.program, surroundings, true);
    } catch (error) {
      return because('internal-error', `tuning failed: ${messageOf(error)}`);
    }
  }

  /**
   * Surveys the program if its decisions may be about other operations than the compiler generates: the written operation can differ from the
   * generated operation, which was measured. A verdict on other decisions is a sign of that.
   * @returns whether the program has to be looked up again
   */
  async surveyIfInDoubt({ decisions, injection: { route } }: Plan): Promise<boolean> {
    const memory = this.#verdictBefore;
    const set = injectedSet(decisions, route);
    const isNew = memory !== null && memory.verified !== set && memory.open?.set !== set;
    if (matchesGenerated(route) && !isNew) return false;
    const surveyed = await withSurvey(this.program, this.means.surroundings);
    if (surveyed === this.program) return false;
    this.program = this.program.again(surveyed);
    this.#began = this.program.since;
    return true;
  }
}

class Budget {
  /** Seconds of measuring, and of waiting for the measuring lock. */
  measuredSeconds = 0;
  /** The part of them that the budget pays for. */
  spentSeconds = 0;
  readonly #seconds: number;

  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  get leftSeconds(): number {
    return this.#seconds - this.spentSeconds;
  }

  /** The same if the budget paid for everything, so that a build stays near its budget and a few compiles of the program. */
  get strictlyLeftSeconds(): number {
    return this.#seconds - this.measuredSeconds;
  }

  /** @param free the part that the budget does not pay for */
  spend(seconds: number, free = 0): void {
    this.measuredSeconds += seconds;
    this.spentSeconds += Math.max(0, seconds - free);
  }
}

/** A build that can go on from known records does not wait for other builds. */
const patienceFor = (works: readonly Work[]): number | undefined =>
  works.every(({ goesOnFrom }) => goesOnFrom !== undefined) ? 0 : undefined;

/** Why nothing is measured in this build; null if measuring is allowed. */
export function whyUntuned(
  { store, problem, surroundings: { settings } }: BuildMeans,
  site: Site,
): Reason | null {
  if (problem !== null) return problem;
  if (site.whyNotHere !== null) return site.whyNotHere;
  if (settings.onMiss !== 'tune')
    return because('tuning-off', `no record, and tuning is off (on-miss=${settings.onMiss})`);
  if (settings.budgetSeconds === 0) return because('no-budget');
  if (settings.readonly) return because('read-only');
  return store === null ? because('no-database') : null;
}
