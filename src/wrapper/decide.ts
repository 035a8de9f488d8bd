// Decides about a program: the configuration of every operation, the forms, and the route. A lock file decides, or the database together
// with tuning.
import type { Override } from '../decision/decision.ts';
import type { FormedProgram, Inspected } from '../plan/inspected.ts';
import { KeptModules } from '../plan/kept-modules.ts';
import { planCompile, planOf, type Plan } from '../plan/route.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import type { ExplainedForms, ExplainedLock } from '../report/explain.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Site } from '../site/site.ts';
import { verifiedDecisions } from '../running/verified-decisions.ts';
import { openAsFarAsPossible } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { placeOf } from '../store/subject.ts';
import type { Stamps } from '../system/files.ts';
import { because, type Reason } from '../system/reason.ts';
import { messageOf, tell } from '../system/tell.ts';
import { Build, whyUntuned, type BuildMeans } from './build.ts';
import { OpenProgram } from './open-program.ts';
import { stampsBefore } from './replay.ts';

/** The decisions about a program, and their reasons. */
export interface Decided extends Plan, Pick<BuildMeans, 'store' | 'surroundings' | 'kept'> {
  /** Null without a lock file. */
  readonly lock: ExplainedLock | null;
  readonly verdict: ProgramVerdict | null;
  /** Why the program with the decisions is not known to be correct and no slower; null if it is. */
  readonly unproven: Reason | null;
  readonly forms: ExplainedForms | null;
  /** Seconds of measuring and of waiting for the measuring lock. */
  readonly tuning: number;
  /** Whether the next build decides the same: nothing is left to tune or to note. */
  readonly isFinal: boolean;
  /** Whether records that this build lacks may be in a folder of the team a moment later. */
  readonly mayArrive: boolean;
  /** States of the lock file, the database and the drivers before the decisions. */
  readonly before: Stamps;
  /** States of other files that the decisions depend on, before anything was measured. */
  readonly files: Stamps;
}

/** The algorithm of a build. `docs/how-it-works.md` has the same steps. */
export async function decide(asked: FormedProgram, given: Surroundings): Promise<Decided> {
  // A lock file replaces the first four steps, or decides before the database about the workloads that it has.
  const locked = await consultedLock(asked, given);
  if (locked !== null && locked.decided !== null) return locked.decided;
  const { command, inspected } = locked?.program ?? asked;
  const { site, ...means } = await openDatabase(inspected.site, given, locked?.override);
  const { store, surroundings, kept } = means;
  const before = [...(locked?.before ?? []), ...stampsBefore(surroundings, site.driverFiles)];

  if (surroundings.settings.sizes.length > 0) await tellUnknownSizes(inspected, surroundings);

  // 1. The forms of the program, measured if the database does not know them.
  const written = { command, inspected: { ...inspected, site } };
  const begun = performance.now();
  const mayMeasure = whyUntuned(means, site) === null;
  const { open, better } = await OpenProgram.inBetterForms(written, means, mayMeasure ? kept : null);
  const build = new Build(open, means);
  const { budget } = build;
  // The budget pays for everything but the survey, the first compile of the program, and that of the output.
  if (better.verdict !== null) budget.spend((performance.now() - begun) / 1000, better.compileSeconds);
  const isInTime = budget.spentSeconds === 0 || budget.leftSeconds > 0;

  // 2. A record for each operation, and 3. a search for each miss.
  await build.lookUp();
  let plan = await build.tune();
  if (await build.surveyIfInDoubt(plan)) {
    await build.lookUp();
    plan = await build.tune();
  }
  const { program, tuned, whyNot } = build;

  // 4. The program, stock against tuned, if its decisions are new.
  const state = { confirmed: tuned.confirmed, secondsLeft: budget.strictlyLeftSeconds };
  const verified = await verifiedDecisions(program.with(tuned.decisions), plan, whyNot, means, state);
  const { decisions } = verified;
  const tuning = budget.measuredSeconds + verified.seconds;
  const hasNoted = surroundings.settings.onMiss === 'record' && program.lookup.misses.length > 0;
  if (tuning > 0 || hasNoted) await sendNews(site, surroundings);

  const mayArrive =
    program.lookup.misses.length > 0 && surroundings.settings.bases.some(({ kind }) => kind === 'folder');

  // 5. The plan.
  return {
    ...(decisions === tuned.decisions ? plan : planCompile(program, decisions, surroundings)),
    ...{ store, surroundings, kept, before, mayArrive, files: tuned.files },
    lock: locked?.lock ?? null,
    forms: better.forms,
    verdict: verified.verdict ?? better.verdict,
    unproven: verified.unproven,
    tuning,
    isFinal: locked?.isFinal !== false && tuned.isFinal && verified.isFinal && !better.isOpen && isInTime,
  };
}

async function tellUnknownSizes({ input }: Inspected, { settings }: Surroundings): Promise<void> {
  // Loaded only with the setting.
  const { unknownSizes } = await import('../report/dynamic-sizes.ts');
  const problem = unknownSizes(input.bytes, settings.sizes);
  if (problem !== null) tell(problem, settings.log);
}

/** The part of a build that a lock file decides; null without a lock file. */
async function consultedLock(asked: FormedProgram, surroundings: Surroundings) {
  const { settings } = surroundings;
  if (settings.lock === undefined && !settings.frozen) return null;
  const { driverFiles } = asked.inspected.site;
  const before = stampsBefore(surroundings, driverFiles, settings.lock === undefined);
  // Loaded only with a lock file.
  const { consultLock } = await import('./locked.ts');
  const locked = await consultLock(asked, surroundings);
  const { lock, program, forms, whole } = locked;
  if (lock.problem !== null) tell(lock.problem, settings.log);
  // A replay would not repeat the message.
  const isFinal = lock.problem === null;
  /** Null if the database decides about some operations. */
  const decided: Decided | null = whole && {
    ...planOf(program, whole.decisions, whole.injection),
    ...{ lock, forms, before, isFinal, surroundings },
    verdict: null,
    unproven: because('not-run', 'a lock file decides, and no program runs'),
    tuning: 0,
    mayArrive: false,
    files: [],
    store: null,
    kept: new KeptModules(),
  };
  return { ...locked, before, isFinal, decided };
}

/**
 * Opens the database, and finds the device of `for-device` in it. If the database cannot be used, the build goes on without tuning, with a
 * message.
 */
async function openDatabase(
  site: Site,
  surroundings: Surroundings,
  override: Override | undefined,
): Promise<BuildMeans & { readonly site: Site }> {
  const { settings } = surroundings;
  const kept = new KeptModules();
  const { database, readonly, author, forDevice, log } = settings;
  const without = (problem: Reason) => {
    tell(`${problem.reason}; this build goes on without tuning`, log);
    return { store: null, problem, surroundings, kept, override, site };
  };
  try {
    const onMigrated = (message: string) => {
      tell(message, log);
    };
    const { store, whyReadonly } = await openAsFarAsPossible(database, { readonly, author, onMigrated });
    if (whyReadonly !== null) tell(whyReadonly, log);
    const isReadonly = readonly || whyReadonly !== null;
    const own = { ...surroundings, settings: { ...settings, readonly: isReadonly } };
    const whole = await withBasesOf(store, site, own);
    const opened = { store: whole, problem: null, surroundings: own, kept, override };
    if (forDevice === undefined) return { ...opened, site };
    // Loaded only if the setting is used.
    const { siteFor, UnknownDeviceError } = await import('../decision/for-device.ts');
    try {
      return { ...opened, site: siteFor(site, forDevice, whole) };
    } catch (error) {
      whole.close();
      if (error instanceof UnknownDeviceError) return without(because('device-missing', error.message));
      throw error;
    }
  } catch (error) {
    return without(because('no-database', `no tuning database: ${messageOf(error)}`));
  }
}

/** The database above the team's bases. */
async function withBasesOf(store: Store, site: Site, surroundings: Surroundings): Promise<Store> {
  if (surroundings.settings.bases.length === 0) return store;
  // Loaded only with a base.
  const { withBases } = await import('../base/open.ts');
  return withBases(store, [placeOf(site)], surroundings);
}

/** Sends new records and misses to the inbox of the bases, in a process that outlives this one, if a setting says so. */
async function sendNews(site: Site, surroundings: Surroundings): Promise<void> {
  const { bases, publish, isForeignDatabase, database } = surroundings.settings;
  if (bases.length === 0 || publish === 'off' || isForeignDatabase) return;
  const { startJob } = await import('../base/start.ts');
  void startJob({ places: [placeOf(site)], sent: database }, surroundings);
}
