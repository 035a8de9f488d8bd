// Decides about a program: the configuration of every operation, the forms, and the route. A lock file decides, or the database together
// with tuning.
import type { Command } from '../compiler/command.ts';
import type { Decision } from '../decision/decision.ts';
import { matchesGenerated, type Injection } from '../inject/plan.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import type { ExplainedForms } from '../report/explain.ts';
import type { Settings } from '../settings/index.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { openAsFarAsPossible } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { messageOf, tell } from '../system/tell.ts';
import type { Inspected } from '../plan/inspected.ts';
import { KeptModules } from '../plan/kept-modules.ts';
import { lastWord } from './last-word.ts';
import type { LockedBuild } from './locked.ts';
import { planCompile } from '../plan/route.ts';
import { inBetterForms } from './program-forms.ts';
import { programMemory } from '../running/program-memory.ts';
import { programOf } from '../running/program-notes.ts';
import { stampsBefore, type Stamps } from './replay.ts';
import { resolve, whyUntuned, withSurvey, type Asked } from './resolve.ts';
import { because, type Reason } from '../system/reason.ts';

/** The decisions about a program, and their reasons. */
export interface Decided {
  /** The user's, in other forms where that is better. */
  readonly command: Command;
  readonly inspected: Inspected;
  readonly decisions: readonly Decision[];
  readonly injection: Injection;
  readonly verdict: ProgramVerdict | null;
  readonly forms: ExplainedForms | null;
  /** Seconds that were spent on measuring, and on waiting for a turn. */
  readonly tuning: number;
  /** Whether the same would be decided again. */
  readonly settled: boolean;
  /** When others may know more, as in `Resolved`. */
  readonly until: number | null;
  /** State of the files that decided about it. */
  readonly before: Stamps;
  /** Other files that decided about it. */
  readonly files: readonly string[];
  readonly store: Store | null;
  readonly kept: KeptModules;
  readonly lock: LockedBuild | null;
  /** The user's, as far as the database can be written. */
  readonly surroundings: Surroundings;
}

/** Decides by the lock file where there is one that knows all of it, else by the database. */
export const decide = (found: Inspected, command: Command, given: Surroundings): Promise<Decided> =>
  given.settings.lock === undefined && !given.settings.frozen
    ? decideByStore(found, command, given, null)
    : decideLocked(found, command, given);

async function decideLocked(
  found: Inspected,
  command: Command,
  surroundings: Surroundings,
): Promise<Decided> {
  const before = stampsBefore(surroundings, surroundings.settings.lock === undefined);
  // Nothing of this is loaded where there is no lock file.
  const { consultLock } = await import('./locked.ts');
  const lock = await consultLock(found, command, surroundings);
  if (lock.problem !== null) tell(lock.problem, surroundings.settings.log);
  const { program, forms, whole } = lock;
  // A build with a problem repeats its message.
  const settled = lock.problem === null;
  if (whole === null) {
    const decided = await decideByStore(program.inspected, command, surroundings, lock);
    return { ...decided, settled: settled && decided.settled, before: [...before, ...decided.before] };
  }
  return {
    ...{ lock, forms, before, settled, surroundings },
    ...program,
    ...whole,
    verdict: null,
    tuning: 0,
    until: null,
    files: [],
    store: null,
    kept: new KeptModules(),
  };
}

/** Looks up, tunes misses and verifies the program: in other forms if it has any, else as written. */
async function decideByStore(
  asked: Inspected,
  command: Command,
  given: Surroundings,
  lock: LockedBuild | null,
): Promise<Decided> {
  const { store, problem, isReadonly, found } = await openDatabase(asked, given.settings);
  const settings = isReadonly ? { ...given.settings, readonly: true } : given.settings;
  const surroundings = { ...given, settings };
  if (problem !== null) tell(`${problem.reason}; this build goes on without tuning`, settings.log);
  const before = stampsBefore(surroundings);
  const kept = new KeptModules();
  return decideInForms(found, { command, store, problem, surroundings, kept, lock }, before);
}

/** A program in its forms where these are known to be better, or prove to be; else as it is written. */
async function decideInForms(inspected: Inspected, asked: Asked, before: Stamps): Promise<Decided> {
  const { command, store, problem, surroundings, kept } = asked;
  const { settings } = surroundings;
  const begun = performance.now();
  const mayMeasure = problem === null && whyUntuned(store, inspected, surroundings) === null;
  const { program, verdict, compileSeconds, forms, isOpen } = await inBetterForms(
    { command, inspected },
    store,
    surroundings,
    kept,
    mayMeasure,
  );
  // One budget pays for all measuring of a build, and not for its compiles.
  const spent = verdict === null ? 0 : (performance.now() - begun) / 1000;
  const spentSeconds = Math.max(0, spent - compileSeconds);
  const own = { ...asked, command: program.command };
  const decided = await decideProgram(program.inspected, own, spentSeconds);
  return {
    ...decided,
    ...{ before, forms },
    verdict: decided.verdict ?? verdict,
    tuning: decided.tuning + spent,
    settled:
      decided.settled && !(mayMeasure && isOpen) && (spent === 0 || spentSeconds < settings.budgetSeconds),
  };
}

/** @param spentSeconds that its forms have taken of the budget */
async function decideProgram(
  found: Inspected,
  asked: Asked,
  spentSeconds: number,
): Promise<Omit<Decided, 'before' | 'forms'>> {
  const { command, store, surroundings, kept } = asked;
  const identity = programOf(command, found);
  const memory = programMemory.recall(store, identity);
  const resolveIt = (seen: Inspected, spent: number) => resolve(seen, asked, memory, spent);
  let resolved = await resolveIt(found, spentSeconds);
  let injection = planCompile(resolved.decisions, resolved.inspected, command, surroundings);
  let tuning = resolved.seconds;
  if (!matchesGenerated(injection.route)) {
    // The generated operation, which was measured, can differ from the written one.
    const surveyed = await withSurvey(resolved.inspected, command, surroundings);
    if (surveyed !== resolved.inspected) {
      resolved = await resolveIt(surveyed, spentSeconds + tuning);
      injection = planCompile(resolved.decisions, surveyed, command, surroundings);
      tuning += resolved.seconds;
    }
  }
  const { inspected, whyNot, files, until } = resolved;
  const program = { command, inspected, decisions: resolved.decisions, identity, memory };
  const secondsLeft = surroundings.settings.budgetSeconds - spentSeconds - tuning;
  const seen = { confirmed: resolved.confirmed, secondsLeft };
  const word = await lastWord(program, injection, whyNot, store, surroundings, kept, seen);
  const { decisions, verdict } = word;
  if (decisions !== resolved.decisions) injection = planCompile(decisions, inspected, command, surroundings);
  tuning += word.seconds;
  const settled = resolved.settled && word.settled;
  return { ...asked, inspected, decisions, injection, verdict, tuning, settled, files, until };
}

/** A database, and the site that it knows the target device as. */
interface Database {
  readonly store: Store | null;
  /** Why there is none, or why it is of no use. */
  readonly problem: Reason | null;
  /** Whether it is only read, wherever that comes from. */
  readonly isReadonly: boolean;
  readonly found: Inspected;
}

/** If the database cannot be used, the build goes on without tuning, with a message. */
async function openDatabase(found: Inspected, settings: Settings): Promise<Database> {
  const { database, readonly, forDevice, log } = settings;
  const without = (problem: Reason) => ({ store: null, problem, isReadonly: readonly, found });
  try {
    const onMigrated = (message: string) => {
      tell(message, log);
    };
    const { store, whyReadonly } = await openAsFarAsPossible(database, { readonly, onMigrated });
    if (whyReadonly !== null) tell(whyReadonly, log);
    const opened = { store, problem: null, isReadonly: readonly || whyReadonly !== null };
    if (forDevice === undefined) return { ...opened, found };
    // Loaded only if the setting is used.
    const { siteFor, UnknownDeviceError } = await import('../decision/for-device.ts');
    try {
      return { ...opened, found: { ...found, site: siteFor(found.site, forDevice, store) } };
    } catch (error) {
      store.close();
      if (error instanceof UnknownDeviceError) return without(because('device-missing', error.message));
      throw error;
    }
  } catch (error) {
    return without(because('no-database', `no tuning database: ${messageOf(error)}`));
  }
}
