// Decides about every operation of one compile: by a record, by tuning, or for the default with a reason.
import type { Decision } from '../decision/decision.ts';
import { messageOf } from '../system/tell.ts';
import type { Store } from '../store/store.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { lookUp, wantedSubjects, type Lookup } from '../decision/look-up.ts';
import type { Inspected } from '../plan/inspected.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Command } from '../compiler/command.ts';
import { findMeasuringTools } from '../compiler/find.ts';
import { surveyText } from '../input/operations.ts';
import { placeOf } from '../store/subject.ts';
import { MISSING_MS } from '../team/missing.ts';
import { shareOf } from '../tuning/share.ts';
import { isUnfinished, isWorthAnotherTry } from '../tuning/undecided.ts';
import type { KeptModules } from '../plan/kept-modules.ts';
import type { Confirmed } from '../running/program-rounds.ts';
import { NOTHING_TUNED, tuneProgram } from '../running/tune-program.ts';
import type { LockedBuild } from './locked.ts';
import { isWorthAsking } from './worth-asking.ts';
import { whyLeftOut, inProgram, type ProgramMemory } from '../running/program-memory.ts';
import { tidyUp } from '../system/tidy.ts';
import { BUSY, takeTurn } from '../site/turn.ts';
import { because, type Reason } from '../system/reason.ts';

/** A program to decide about. */
export interface Asked {
  readonly command: Command;
  readonly store: Store | null;
  /** Why there is no database; null if there is one. */
  readonly problem: Reason | null;
  readonly surroundings: Surroundings;
  /** Takes the untuned program, if it is compiled for times of its dispatches. */
  readonly kept: KeptModules;
  /** Decisions of a lock file; null for none. */
  readonly lock: LockedBuild | null;
}

export interface Resolved {
  /** The inspected command, with a survey if anything was tuned. */
  readonly inspected: Inspected;
  readonly decisions: readonly Decision[];
  /** Seconds spent on tuning, and on waiting for others to end theirs. */
  readonly seconds: number;
  /** Whether the same database would lead to the same decisions: nothing is still to be tuned or noted. */
  readonly settled: boolean;
  /** Files beside the database that decided about it. */
  readonly files: readonly string[];
  /** Why nothing is measured in this build; null when something may be. */
  readonly whyNot: Reason | null;
  /** Configurations that the program ran with all at once while it was tuned; null for none. */
  readonly confirmed: Confirmed | null;
  /** When to ask the team again about misses, in milliseconds of the system's clock; null without a team. */
  readonly until: number | null;
}

/**
 * Decides about every operation: looks records up, and tunes misses if the settings allow it.
 * @param program the verdict on the program as a whole
 * @param spentSeconds that this build has measured already
 */
export async function resolve(
  inspected: Inspected,
  { command, store, problem, surroundings, kept, lock }: Asked,
  program: ProgramMemory | null,
  spentSeconds = 0,
): Promise<Resolved> {
  const { settings } = surroundings;
  const override = lock?.override;
  // The lookup does not see records that other builds write from now on.
  const began = Date.now();
  let lookup = lookUp(store, inspected.input, inspected.site, settings, override);
  const decide = (...known: Parameters<Lookup['decide']>) =>
    inProgram(lookup.decide(...known), program, lookup.marked, settings.inject);
  const { waitedSeconds } = inspected.input;
  const whySpent = spentSeconds < settings.budgetSeconds ? null : because('budget-spent');
  const whyNot = problem ?? whyUntuned(store, inspected, surroundings) ?? whySpent;
  /** Copies the team's records for misses into the database, and looks up again. */
  const askOthers = async ({ input, site }: Inspected) => {
    const { team: url } = settings;
    if (url === undefined || store === null || settings.readonly || lookup.misses.length === 0) return;
    const begun = performance.now();
    const workloads = lookup.misses.map(({ key }) => key);
    if (!isWorthAsking(url, { ...placeOf(site), workloads }, surroundings)) return;
    const { askTeam } = await import('./ask-team.ts');
    const missing = () => (lookup = lookUp(store, input, site, settings, override)).misses;
    await askTeam(missing, whyNot === null, begun, { url, site, surroundings });
  };
  const until = () =>
    settings.team === undefined || lookup.misses.length === 0 ? null : Date.now() + MISSING_MS;
  await askOthers(inspected);
  let tools: readonly string[] = [];
  /**
   * The workloads to tune. Left out are workloads for which an earlier build had too little time, and those whose configuration was marked
   * because of this very program.
   */
  const toTune = (): readonly Work[] => {
    const missed = lookup.misses.filter(
      ({ key }) => whyLeftOut(program, key, lookup.marked.get(key)) === null,
    );
    const open = [...missed, ...lookup.narrow, ...lookup.unfinished];
    if (open.length === 0 || lookup.undecided().size === 0) return open;
    const { env, root, cacheDirectory } = surroundings;
    tools = Object.values(findMeasuringTools(command.compiler, env, { root, cacheDirectory }) ?? {});
    const seconds = shareOf(settings.budgetSeconds, open.length);
    return open.filter(({ key }) => {
      const before = lookup.undecided().get(key);
      return before === undefined || isWorthAnotherTry(before, seconds, tools);
    });
  };
  type Outcome = Pick<Resolved, 'inspected' | 'decisions' | 'seconds' | 'settled'>;
  const resolved = (outcome: Outcome, confirmed: Confirmed | null = null): Resolved => ({
    ...outcome,
    ...{ files: tools, whyNot, confirmed, until: until() },
  });
  let open = whyNot === null ? toTune() : lookup.misses;
  if (open.length === 0) {
    const decisions = decide(new Map());
    return resolved({ inspected, decisions, seconds: waitedSeconds, settled: true });
  }
  // A build that is no hit has the time to tidy up after those that were killed.
  tidyUp(surroundings.cacheDirectory);
  if (whyNot !== null || store === null) {
    if (settings.onMiss === 'record' && store !== null && !settings.readonly)
      for (const subject of wantedSubjects(lookup, inspected.site)) store.noteMiss(subject);
    const settled = store !== null && settings.onMiss !== 'record';
    const decisions = decide(new Map(), whyNot ?? because('no-database'));
    return resolved({ inspected, decisions, seconds: waitedSeconds, settled });
  }

  const begun = performance.now();
  const seconds = () => waitedSeconds + (performance.now() - begun) / 1000;
  // A build that can go on from known records does not wait for other builds.
  const patience = () => (open.every(({ goesOnFrom }) => goesOnFrom !== undefined) ? 0 : undefined);
  const surveyed = await surveyToTune(inspected, command, surroundings, patience());
  if ('code' in surveyed) {
    // The build that held the lock may have tuned the same.
    lookup = lookUp(store, inspected.input, inspected.site, settings, override);
    const decisions = decide(new Map(), surveyed);
    return resolved({ inspected, decisions, seconds: seconds(), settled: false });
  }
  if (surveyed !== inspected) {
    lookup = lookUp(store, surveyed.input, surveyed.site, settings, override);
    await askOthers(surveyed);
    open = toTune();
  }
  const budgetSeconds = settings.budgetSeconds - spentSeconds - seconds();
  const current = {
    inspected: surveyed,
    decisions: decide(new Map()),
    memory: program,
  };
  const work = { command, surroundings, kept, store, budgetSeconds, patienceSeconds: patience(), began };
  const tuned = open.length === 0 ? NOTHING_TUNED : await tuneProgram(open, current, work);
  const { results, undecided } = tuned;
  if (settings.team !== undefined && !settings.isForeignDatabase && results.size > 0) {
    const { tellTeam } = await import('./ask-team.ts');
    await tellTeam({ url: settings.team, surroundings });
  }
  const settled = open.every(({ key }) => {
    const known = results.get(key);
    return known === undefined
      ? undecided.has(key)
      : !isUnfinished(known, shareOf(settings.budgetSeconds, open.length));
  });
  const decisions = decide(results, tuned.whyNot, undecided);
  return resolved({ inspected: surveyed, decisions, seconds: seconds(), settled }, tuned.confirmed);
}

/**
 * A survey that waits for the measuring lock, by default as long as the budget lasts. Without a survey nothing is tuned.
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
    const turn = await takeTurn(surroundings, patienceSeconds);
    if (turn === null) return BUSY;
    try {
      return await withSurvey(inspected, command, surroundings, true);
    } finally {
      turn.release();
    }
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

/** Why nothing is measured in this build; null when something may be. */
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
