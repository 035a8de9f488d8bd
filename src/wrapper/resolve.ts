// Decides about every operation of a compile: a record, a tuning result, or the default with a reason.
import type { Decision } from '../decision/decision.ts';
import { stampsOf, type Stamps } from '../system/files.ts';
import { messageOf } from '../system/tell.ts';
import type { Store } from '../store/store.ts';
import { subjectOf } from '../store/subject.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import type { Inspected } from '../plan/inspected.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { findMeasuringTools } from '../compiler/find.ts';
import { surveyText } from '../input/operations.ts';
import { MISSING_MS } from '../team/missing.ts';
import { shareOf } from '../tuning/share.ts';
import { isUnfinished, isWorthAnotherTry } from '../tuning/undecided.ts';
import type { KeptModules } from '../plan/kept-modules.ts';
import type { Confirmed } from '../running/program-rounds.ts';
import { NOTHING_TUNED, tuneProgram } from '../running/tune-program.ts';
import type { Command } from '../compiler/command.ts';
import { whyLeftOut } from '../running/program-memory.ts';
import type { OpenProgram } from './open-program.ts';
import { tidyUp } from '../system/tidy.ts';
import { BUSY, takeTurn } from '../site/turn.ts';
import { because, type Reason } from '../system/reason.ts';

/** Database, settings and modules of one build. */
export interface Asked {
  readonly store: Store | null;
  /** Why there is no database; null if there is one. */
  readonly problem: Reason | null;
  /** The user's settings; read-only if the database cannot be written. */
  readonly surroundings: Surroundings;
  /** Modules of this build. */
  readonly kept: KeptModules;
}

export interface Resolved {
  /** With a survey if it had misses. */
  readonly program: OpenProgram;
  readonly decisions: readonly Decision[];
  /** Seconds of tuning, and of waiting for the measuring lock. */
  readonly seconds: number;
  /** Whether the next build decides the same: nothing is left to tune or to note. */
  readonly isFinal: boolean;
  /** States of other files that the decisions depend on, before anything was measured. */
  readonly files: Stamps;
  /** Why nothing is measured in this build; null if measuring is allowed. */
  readonly whyNot: Reason | null;
  /** Configurations that the program ran with while it was tuned; null for none. */
  readonly confirmed: Confirmed | null;
  /** When to ask the team again about misses, in milliseconds of the system's clock; null for never. */
  readonly until: number | null;
}

/**
 * Decides about every operation: looks up records, and tunes misses if the settings allow it.
 * @param spentSeconds the part of the budget that this build has used already
 */
export async function resolve(
  found: OpenProgram,
  { store, problem, surroundings, kept }: Asked,
  spentSeconds = 0,
): Promise<Resolved> {
  const { settings } = surroundings;
  const { command, memory, since: began } = found;
  let program = found;
  const whySpent = spentSeconds < settings.budgetSeconds ? null : because('budget-spent');
  const whyNot = problem ?? whyUntuned(store, found.inspected, surroundings) ?? whySpent;
  /** Copies the team's records for misses into the database, and looks up again. */
  const askOthers = async () => {
    const { team: url } = settings;
    if (url === undefined || store === null || settings.readonly || program.lookup.misses.length === 0)
      return;
    const { askTeam } = await import('./ask-team.ts');
    const missing = () => (program = program.again()).lookup.misses;
    await askTeam(missing, whyNot === null, url, program.inspected.site, surroundings);
  };
  await askOthers();
  /** Looks up the generated operations of a survey. */
  const goOnWith = async (surveyed: Inspected) => {
    if (surveyed === program.inspected) return;
    program = program.again(surveyed);
    await askOthers();
  };
  // A miss by the text can be a hit by the generated operations. A build that tunes makes the survey later.
  if (whyNot !== null && store !== null && program.lookup.misses.length > 0)
    await goOnWith(await withSurvey(program.inspected, command, surroundings));
  let files: Stamps = [];
  /** Workloads to tune, but not those that this program runs slower with or that need more time than this build has. */
  const toTune = (): readonly Work[] => {
    const { lookup } = program;
    const missed = lookup.misses.filter(
      ({ key }) => whyLeftOut(memory, key, lookup.marked.get(key)) === null,
    );
    const open = [...missed, ...lookup.narrow, ...lookup.unfinished];
    if (open.length === 0 || lookup.undecided().size === 0) return open;
    const tools = Object.values(findMeasuringTools(command.compiler, surroundings.env, surroundings) ?? {});
    files = stampsOf(tools);
    const seconds = shareOf(settings.budgetSeconds, open.length);
    return open.filter(({ key }) => {
      const before = lookup.undecided().get(key);
      return before === undefined || isWorthAnotherTry(before, seconds, tools);
    });
  };
  const resolved = (
    outcome: Pick<Resolved, 'decisions' | 'seconds' | 'isFinal'>,
    confirmed: Confirmed | null = null,
  ): Resolved => ({
    ...{ ...outcome, program, confirmed, whyNot, files },
    until: settings.team === undefined || program.lookup.misses.length === 0 ? null : Date.now() + MISSING_MS,
  });
  const { waitedSeconds } = program.inspected.input;
  let open = whyNot === null ? toTune() : program.lookup.misses;
  // A build that is no hit has the time to remove files of killed builds.
  if (open.length > 0) tidyUp(surroundings.cacheDirectory);
  if (open.length === 0 || whyNot !== null || store === null) {
    const { target, whyNotHere } = program.inspected.site;
    const wantsTuning = settings.onMiss === 'tune' && settings.budgetSeconds > 0 && open.length > 0;
    if (wantsTuning && whyNotHere !== null && whyNotHere.code !== 'other-device') {
      const { storyOf } = await import('../report/story.ts');
      storyOf(surroundings.cacheDirectory).measureNothing(target.target.backend, whyNotHere.reason);
    }
    const isNoted = open.length > 0 && settings.onMiss === 'record';
    if (isNoted && store !== null && !settings.readonly)
      for (const miss of program.lookup.misses) store.noteMiss(subjectOf(miss, program.inspected.site));
    const isFinal = open.length === 0 || (store !== null && !isNoted);
    return resolved({
      decisions: program.decide(new Map(), whyNot ?? undefined),
      seconds: waitedSeconds,
      isFinal,
    });
  }

  const begun = performance.now();
  const seconds = () => waitedSeconds + (performance.now() - begun) / 1000;
  // A build that can go on from known records does not wait for other builds.
  const patience = () => (open.every(({ goesOnFrom }) => goesOnFrom !== undefined) ? 0 : undefined);
  const surveyed = await surveyToTune(program.inspected, command, surroundings, patience());
  if ('code' in surveyed) {
    // The build that held the lock may have tuned the same workloads.
    program = program.again();
    return resolved({ decisions: program.decide(new Map(), surveyed), seconds: seconds(), isFinal: false });
  }
  await goOnWith(surveyed);
  open = toTune();
  const budgetSeconds = settings.budgetSeconds - spentSeconds - seconds();
  const current = program.with(program.decide(new Map()));
  const work = { surroundings, kept, store, budgetSeconds, patienceSeconds: patience(), began };
  const tuned = open.length === 0 ? NOTHING_TUNED : await tuneProgram(open, current, work);
  const { results, undecided } = tuned;
  if (settings.team !== undefined && !settings.isForeignDatabase && results.size > 0) {
    const { tellTeam } = await import('./ask-team.ts');
    await tellTeam(settings.team, surroundings);
  }
  const isFinal = open.every(({ key }) => {
    const known = results.get(key);
    return known === undefined
      ? undecided.has(key)
      : !isUnfinished(known, shareOf(settings.budgetSeconds, open.length));
  });
  const decisions = program.decide(results, tuned.whyNot, undecided);
  return resolved({ decisions, seconds: seconds(), isFinal }, tuned.confirmed);
}

/**
 * Surveys the input while nothing is measured on the machine. Waits for the measuring lock, by default as long as the budget lasts.
 * @returns the reason if there is no survey: another build held the lock, or nothing can be written
 */
async function surveyToTune(
  inspected: Inspected,
  command: Command,
  surroundings: Surroundings,
  patienceSeconds = surroundings.settings.budgetSeconds - inspected.input.waitedSeconds,
): Promise<Inspected | Reason> {
  if (inspected.input.surveyed) return inspected;
  try {
    using turn = await takeTurn(surroundings, patienceSeconds);
    return turn === null ? BUSY : await withSurvey(inspected, command, surroundings, true);
  } catch (error) {
    return because('internal-error', `tuning failed: ${messageOf(error)}`);
  }
}

/**
 * Adds the operations that the compiler generates code for, which can differ from those of the text.
 * @param hasTurn whether the caller holds the measuring lock
 */
export async function withSurvey(
  inspected: Inspected,
  command: Command,
  surroundings: Surroundings,
  hasTurn = false,
): Promise<Inspected> {
  if (inspected.input.surveyed) return inspected;
  const surveyed = await surveyText(inspected.input, command, surroundings, hasTurn);
  return surveyed === null ? inspected : { ...inspected, input: { ...inspected.input, ...surveyed } };
}

/** Why nothing is measured in this build; null if measuring is allowed. */
export function whyUntuned(
  store: Store | null,
  inspected: Inspected,
  { settings }: Surroundings,
): Reason | null {
  if (inspected.site.whyNotHere !== null) return inspected.site.whyNotHere;
  if (settings.onMiss !== 'tune')
    return because('tuning-off', `no record, and tuning is off (on-miss=${settings.onMiss})`);
  if (settings.budgetSeconds === 0) return because('no-budget');
  if (settings.readonly) return because('read-only');
  return store === null ? because('no-database') : null;
}
