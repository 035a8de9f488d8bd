// Decides about a program: the configuration of every operation, the forms, and the route. A lock file decides, or the database together
// with tuning.
import { matchesGenerated } from '../inject/plan.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import type { ExplainedForms } from '../report/explain.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { openAsFarAsPossible } from '../store/open.ts';
import type { Stamps } from '../system/files.ts';
import { messageOf, tell } from '../system/tell.ts';
import { KeptModules } from '../plan/kept-modules.ts';
import { verifiedDecisions } from '../running/verified-decisions.ts';
import type { LockedBuild } from './locked.ts';
import { planCompile, type Plan } from '../plan/route.ts';
import type { FormedProgram } from '../plan/inspected.ts';
import { injectedSet } from '../running/variants/memory.ts';
import { OpenProgram } from './open-program.ts';
import { stampsBefore } from './replay.ts';
import { withSurvey } from '../plan/surveyed.ts';
import { lookUpAndTune, whyUntuned, type BuildMeans, type Tuned } from './look-up-and-tune.ts';
import { because, type Reason } from '../system/reason.ts';

/** The decisions about a program, and their reasons. */
export interface Decided
  extends
    Plan,
    Pick<BuildMeans, 'store' | 'surroundings' | 'kept'>,
    Pick<Tuned, 'isFinal' | 'files' | 'until'> {
  /** Decisions of a lock file; null for none. */
  readonly lock: LockedBuild | null;
  readonly verdict: ProgramVerdict | null;
  /** Why the program with the decisions is not known to be correct and no slower; null if it is. */
  readonly unproven: Reason | null;
  readonly forms: ExplainedForms | null;
  /** Seconds of measuring and of waiting for the measuring lock. */
  readonly tuning: number;
  /** States of the lock file, the database and the drivers before the decisions. */
  readonly before: Stamps;
}

/** Decides by the lock file if there is one that has the whole program, else by the database. */
export async function decide(asked: FormedProgram, surroundings: Surroundings): Promise<Decided> {
  const { settings } = surroundings;
  if (settings.lock === undefined && !settings.frozen) return decideByStore(asked, surroundings, null);
  const { driverFiles } = asked.inspected.site;
  const before = stampsBefore(surroundings, driverFiles, settings.lock === undefined);
  // Loaded only with a lock file.
  const { consultLock } = await import('./locked.ts');
  const lock = await consultLock(asked, surroundings);
  if (lock.problem !== null) tell(lock.problem, settings.log);
  const { program, forms, whole } = lock;
  // A replay would not repeat the message about the problem.
  const isFinal = lock.problem === null;
  if (whole === null) {
    const decided = await decideByStore(program, surroundings, lock);
    return { ...decided, isFinal: isFinal && decided.isFinal, before: [...before, ...decided.before] };
  }
  return {
    ...{ lock, forms, before, isFinal, surroundings },
    ...whole,
    verdict: null,
    unproven: because('not-run', 'a lock file decides, and no program runs'),
    tuning: 0,
    until: null,
    files: [],
    store: null,
    kept: new KeptModules(),
  };
}

/**
 * The algorithm of a build with a database. `docs/how-it-works.md` has the same steps.
 * @param lock decides before the database about the workloads that it has
 */
async function decideByStore(
  asked: FormedProgram,
  given: Surroundings,
  lock: LockedBuild | null,
): Promise<Decided> {
  const { written, ...opened } = await openDatabase(asked, given);
  const means: BuildMeans = { ...opened, override: lock?.override };
  const { store, surroundings, kept } = means;
  const before = stampsBefore(surroundings, written.inspected.site.driverFiles);
  const budget = new Budget(surroundings.settings.budgetSeconds);

  // 1. The forms of the program, measured if the database does not know them.
  const { open, better } = await inForms(written, means, budget);
  const isInTime = budget.spentSeconds === 0 || budget.leftSeconds > 0;

  // 2. A record for each operation, and 3. a search for each miss.
  let tuned = await decideOperations(open, budget);
  const surveyed = await surveyIfInDoubt(tuned, open.memory);
  if (surveyed !== tuned.program) tuned = await decideOperations(tuned.program.again(surveyed), budget);
  const { program, plan, whyNot, files, until, confirmed } = tuned;

  // 4. The program, stock against tuned, if its decisions are new.
  const known = program.with(tuned.decisions);
  const state = { confirmed, secondsLeft: budget.leftSeconds };
  const verified = await verifiedDecisions(known, plan, whyNot, means, state);
  const { decisions } = verified;

  // 5. The plan.
  const isAsTuned = decisions === tuned.decisions;
  return {
    ...(isAsTuned ? plan : planCompile(program, decisions, surroundings)),
    ...{ store, surroundings, kept, lock, before, files, until },
    forms: better.forms,
    verdict: verified.verdict ?? better.verdict,
    unproven: verified.unproven,
    tuning: budget.spentSeconds + verified.seconds,
    isFinal: tuned.isFinal && verified.isFinal && !better.isOpen && isInTime,
  };
}

/** The seconds of one build. */
class Budget {
  /** Seconds of measuring, and of waiting for the measuring lock. */
  spentSeconds = 0;
  readonly #seconds: number;

  constructor(seconds: number) {
    this.#seconds = seconds;
  }

  get leftSeconds(): number {
    return this.#seconds - this.spentSeconds;
  }

  spend(seconds: number): void {
    this.spentSeconds += seconds;
  }
}

/** Opens the program in the forms in which it is faster. */
async function inForms(written: FormedProgram, means: BuildMeans, budget: Budget) {
  const begun = performance.now();
  const mayMeasure = whyUntuned(means, written.inspected) === null;
  const opened = await OpenProgram.inBetterForms(written, means, mayMeasure ? means.kept : null);
  // The budget pays for everything but the survey, and the compile of the output.
  if (opened.better.verdict !== null) budget.spend((performance.now() - begun) / 1000);
  return opened;
}

/** Decides about all operations, and plans their injection. */
async function decideOperations(open: OpenProgram<BuildMeans>, budget: Budget) {
  const tuned = await lookUpAndTune(open, budget.spentSeconds);
  budget.spend(tuned.seconds);
  return { ...tuned, plan: planCompile(tuned.program, tuned.decisions, open.means.surroundings) };
}

/**
 * The program with a survey, if its decisions may be about other operations than the compiler generates: the written operation can differ from
 * the generated operation, which was measured. A verdict on other decisions is a sign of that.
 */
async function surveyIfInDoubt(
  { program, plan }: Awaited<ReturnType<typeof decideOperations>>,
  memory: OpenProgram['memory'],
): Promise<FormedProgram> {
  const { route } = plan.injection;
  const set = injectedSet(plan.decisions, route);
  const isNew = memory !== null && memory.verified !== set && memory.open?.set !== set;
  return matchesGenerated(route) && !isNew ? program : withSurvey(program, program.means.surroundings);
}

/**
 * Opens the database, and finds the device of `for-device` in it. If the database cannot be used, the build goes on without tuning, with a
 * message.
 */
async function openDatabase(
  written: FormedProgram,
  surroundings: Surroundings,
): Promise<BuildMeans & { readonly written: FormedProgram }> {
  const { settings } = surroundings;
  const kept = new KeptModules();
  const { database, readonly, forDevice, log } = settings;
  const without = (problem: Reason) => {
    tell(`${problem.reason}; this build goes on without tuning`, log);
    return { store: null, problem, surroundings, kept, written };
  };
  try {
    const onMigrated = (message: string) => {
      tell(message, log);
    };
    const { store, whyReadonly } = await openAsFarAsPossible(database, { readonly, onMigrated });
    if (whyReadonly !== null) tell(whyReadonly, log);
    const isReadonly = readonly || whyReadonly !== null;
    const own = { ...surroundings, settings: { ...settings, readonly: isReadonly } };
    const opened = { store, problem: null, surroundings: own, kept };
    if (forDevice === undefined) return { ...opened, written };
    // Loaded only if the setting is used.
    const { siteFor, UnknownDeviceError } = await import('../decision/for-device.ts');
    try {
      const { command, inspected } = written;
      const site = siteFor(inspected.site, forDevice, store);
      return { ...opened, written: { command, inspected: { ...inspected, site } } };
    } catch (error) {
      store.close();
      if (error instanceof UnknownDeviceError) return without(because('device-missing', error.message));
      throw error;
    }
  } catch (error) {
    return without(because('no-database', `no tuning database: ${messageOf(error)}`));
  }
}
