// Decides about a program: the configuration of every operation, the forms, and the route. A lock file decides, or the database together
// with tuning.
import type { Command } from '../compiler/command.ts';
import { matchesGenerated, type Injection } from '../inject/plan.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import type { ExplainedForms } from '../report/explain.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { openAsFarAsPossible } from '../store/open.ts';
import type { Stamps } from '../system/files.ts';
import { messageOf, tell } from '../system/tell.ts';
import type { Inspected } from '../plan/inspected.ts';
import { KeptModules } from '../plan/kept-modules.ts';
import { verifiedDecisions } from './verified-decisions.ts';
import type { LockedBuild } from './locked.ts';
import { planCompile } from '../plan/route.ts';
import type { FormedProgram } from '../plan/rewritten.ts';
import { injectedSet } from '../running/program-memory.ts';
import { OpenProgram } from './open-program.ts';
import { stampsBefore } from './replay.ts';
import { resolve, whyUntuned, withSurvey, type Asked, type Resolved } from './resolve.ts';
import { because, type Reason } from '../system/reason.ts';

/** The decisions about a program, and their reasons. */
export interface Decided
  extends FormedProgram, Omit<Asked, 'problem'>, Pick<Resolved, 'decisions' | 'isFinal' | 'files' | 'until'> {
  readonly injection: Injection;
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
export const decide = (found: Inspected, command: Command, given: Surroundings): Promise<Decided> =>
  given.settings.lock === undefined && !given.settings.frozen
    ? decideByStore(found, command, given, null)
    : decideLocked(found, command, given);

async function decideLocked(
  found: Inspected,
  command: Command,
  surroundings: Surroundings,
): Promise<Decided> {
  const { driverFiles } = found.site;
  const before = stampsBefore(surroundings, driverFiles, surroundings.settings.lock === undefined);
  // Loaded only with a lock file.
  const { consultLock } = await import('./locked.ts');
  const lock = await consultLock(found, command, surroundings);
  if (lock.problem !== null) tell(lock.problem, surroundings.settings.log);
  const { program, forms, whole } = lock;
  // A replay would not repeat the message about the problem.
  const isFinal = lock.problem === null;
  if (whole === null) {
    const decided = await decideByStore(program.inspected, command, surroundings, lock);
    return { ...decided, isFinal: isFinal && decided.isFinal, before: [...before, ...decided.before] };
  }
  return {
    ...{ lock, forms, before, isFinal, surroundings },
    ...program,
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

/** Looks up, tunes misses and verifies the program, in the forms in which it is faster. */
async function decideByStore(
  asked: Inspected,
  written: Command,
  given: Surroundings,
  lock: LockedBuild | null,
): Promise<Decided> {
  const { found, store, problem, surroundings } = await openDatabase(asked, given);
  const before = stampsBefore(surroundings, found.site.driverFiles);
  const kept = new KeptModules();
  const begun = performance.now();
  const mayMeasure = problem === null && whyUntuned(store, found, surroundings) === null;
  const asWritten = { command: written, inspected: found };
  const means = { store, surroundings, override: lock?.override };
  const { open, better } = await OpenProgram.inBetterForms(asWritten, means, mayMeasure ? kept : null);
  const { command } = open;
  const formsSeconds = better.verdict === null ? 0 : (performance.now() - begun) / 1000;
  const { budgetSeconds } = surroundings.settings;
  // The budget pays for everything but the first compile of the program, and that of the output.
  const spent = Math.max(0, formsSeconds - better.compileSeconds);
  const isInTime = formsSeconds === 0 || spent < budgetSeconds;

  const own = { store, problem, surroundings, kept };
  let tuning = 0;
  const decideAbout = async (program: OpenProgram) => {
    const now = await resolve(program, own, spent + tuning);
    tuning += now.seconds;
    return { ...now, injection: planCompile(now.decisions, now.program.inspected, command, surroundings) };
  };
  let resolved = await decideAbout(open);
  const { route } = resolved.injection;
  const set = injectedSet(resolved.decisions, route);
  const { memory } = open;
  const isNew = memory !== null && memory.verified !== set && memory.open?.set !== set;
  // The written operation can differ from the generated operation, which was measured. A verdict on other decisions is a sign of that.
  if (!matchesGenerated(route) || isNew) {
    const { program } = resolved;
    const surveyed = await withSurvey(program.inspected, command, surroundings);
    if (surveyed !== program.inspected) resolved = await decideAbout(program.again(surveyed));
  }
  const { program, whyNot, files, until, confirmed } = resolved;
  const { inspected } = program;
  const tuned = { confirmed, secondsLeft: budgetSeconds - spent - tuning };
  const known = program.with(resolved.decisions);
  const verified = await verifiedDecisions(known, resolved.injection, whyNot, own, tuned);
  const { decisions } = verified;
  const injection =
    decisions === resolved.decisions
      ? resolved.injection
      : planCompile(decisions, inspected, command, surroundings);
  return {
    ...{ ...own, lock, command, inspected, decisions, injection, before, files, until, forms: better.forms },
    verdict: verified.verdict ?? better.verdict,
    unproven: verified.unproven,
    tuning: formsSeconds + tuning + verified.seconds,
    isFinal: resolved.isFinal && verified.isFinal && !better.isOpen && isInTime,
  };
}

/**
 * Opens the database, and finds the device of `for-device` in it. If the database cannot be used, the build goes on without tuning, with a
 * message.
 */
async function openDatabase(
  found: Inspected,
  surroundings: Surroundings,
): Promise<Pick<Asked, 'store' | 'problem' | 'surroundings'> & { readonly found: Inspected }> {
  const { settings } = surroundings;
  const { database, readonly, forDevice, log } = settings;
  const without = (problem: Reason) => {
    tell(`${problem.reason}; this build goes on without tuning`, log);
    return { store: null, problem, surroundings, found };
  };
  try {
    const onMigrated = (message: string) => {
      tell(message, log);
    };
    const { store, whyReadonly } = await openAsFarAsPossible(database, { readonly, onMigrated });
    if (whyReadonly !== null) tell(whyReadonly, log);
    const isReadonly = readonly || whyReadonly !== null;
    const own = { ...surroundings, settings: { ...settings, readonly: isReadonly } };
    const opened = { store, problem: null, surroundings: own };
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
