// The middle of the algorithm: looks up every operation of a program, and tunes the misses. Each operation gets a record, a tuning result, or
// the default with a reason.
import type { Decision } from '../decision/decision.ts';
import { stampsOf, type Stamps } from '../system/files.ts';
import { messageOf } from '../system/tell.ts';
import type { Store } from '../store/store.ts';
import { subjectOf } from '../store/subject.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import type { FormedProgram, Inspected } from '../plan/inspected.ts';
import { findMeasuringTools } from '../compiler/find.ts';
import { MISSING_MS } from '../team/missing.ts';
import { shareOf } from '../tuning/schedule.ts';
import { isUnfinished, isWorthAnotherTry } from '../tuning/undecided.ts';
import type { KeptModules } from '../plan/kept-modules.ts';
import type { Confirmed } from '../running/program-rounds.ts';
import { NOTHING_TUNED, tuneProgram } from '../running/tune-program.ts';
import { whyLeftOut } from '../running/variants/memory.ts';
import { withSurvey } from '../plan/surveyed.ts';
import type { Means, OpenProgram } from './open-program.ts';
import { tidyUp } from '../system/tidy.ts';
import { BUSY, takeTurn } from '../site/turn.ts';
import { because, isReason, type Reason } from '../system/reason.ts';

/** Database, settings and modules of one build. */
export interface BuildMeans extends Means {
  /** Why there is no database; null if there is one. */
  readonly problem: Reason | null;
  /** Modules of this build. */
  readonly kept: KeptModules;
}

/** A program of a build. */
type Building = OpenProgram<BuildMeans>;

/** The decisions about all operations of a program. */
export interface Tuned {
  /** With a survey if it had misses. */
  readonly program: Building;
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

/** The part of the result that differs between a build that tunes and a build that does not. */
type Outcome = Omit<Tuned, 'whyNot' | 'until'>;

/**
 * Decides about every operation: looks up records, and tunes misses if the settings allow it.
 * @param spentSeconds the part of the budget that this build has used already
 */
export async function lookUpAndTune(opened: Building, spentSeconds = 0): Promise<Tuned> {
  const { store, surroundings } = opened.means;
  const { settings } = surroundings;
  const whySpent = spentSeconds < settings.budgetSeconds ? null : because('budget-spent');
  const whyNot = whyUntuned(opened.means, opened.inspected) ?? whySpent;
  const program = await lookUp(opened, whyNot);
  const outcome =
    whyNot !== null || store === null
      ? await withoutTuning(program, program.lookup.misses, whyNot)
      : await tuneMisses(program, store, spentSeconds, opened.since);
  const isAskedAgain = settings.team !== undefined && outcome.program.lookup.misses.length > 0;
  return { ...outcome, whyNot, until: isAskedAgain ? Date.now() + MISSING_MS : null };
}

/** Looks misses up in the team's server, too, and in a build that tunes nothing by the generated operations. */
async function lookUp(opened: Building, whyNot: Reason | null): Promise<Building> {
  const { store, surroundings } = opened.means;
  const program = await withTeam(opened, whyNot === null);
  // A miss by the text can be a hit by the generated operations. A build that tunes makes the survey later.
  if (whyNot === null || store === null || program.lookup.misses.length === 0) return program;
  return lookUpSurveyed(program, await withSurvey(program, surroundings), false);
}

/** Looks up the generated operations of a survey. */
const lookUpSurveyed = async (
  program: Building,
  surveyed: FormedProgram,
  mayTune: boolean,
): Promise<Building> => (surveyed === program ? program : withTeam(program.again(surveyed), mayTune));

/** Copies the team's records for misses into the database, and looks up again. */
async function withTeam(opened: Building, mayTune: boolean): Promise<Building> {
  const { store, surroundings } = opened.means;
  const { team, readonly } = surroundings.settings;
  let program = opened;
  if (team === undefined || store === null || readonly || program.lookup.misses.length === 0) return program;
  const { askTeam } = await import('./ask-team.ts');
  const missing = () => (program = program.again()).lookup.misses;
  await askTeam(missing, mayTune, team, program.inspected.site, surroundings);
  return program;
}

/** Workloads to tune, and the tools that they depend on. */
interface ToTune {
  readonly works: readonly Work[];
  readonly files: Stamps;
}

/** All open workloads but those that this program runs slower with, or that need more time than this build has. */
function toTune({ lookup, memory, command, means }: Building): ToTune {
  const { surroundings } = means;
  const missed = lookup.misses.filter(({ key }) => whyLeftOut(memory, key, lookup.marked.get(key)) === null);
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

/** The decisions of a build that tunes nothing. Notes its misses if a setting says so. */
async function withoutTuning(
  program: Building,
  open: readonly Work[],
  whyNot: Reason | null,
  files: Stamps = [],
): Promise<Outcome> {
  const { store, surroundings } = program.means;
  const { settings, cacheDirectory } = surroundings;
  const { site, input } = program.inspected;
  const { onMiss, budgetSeconds, readonly } = settings;
  if (open.length > 0) tidyUp(cacheDirectory);
  const isNoted = open.length > 0 && onMiss === 'record';
  if (isNoted && store !== null && !readonly)
    for (const miss of program.lookup.misses) store.noteMiss(subjectOf(miss, site));
  const { whyNotHere } = site;
  const wantsTuning = onMiss === 'tune' && budgetSeconds > 0 && open.length > 0;
  if (wantsTuning && whyNotHere !== null && whyNotHere.code !== 'other-device') {
    const { terminalOf } = await import('../report/terminal.ts');
    terminalOf(cacheDirectory).measureNothing(site.target.target.backend, whyNotHere.reason);
  }
  return {
    ...{ program, files, confirmed: null },
    decisions: program.decide(new Map(), whyNot ?? undefined),
    seconds: input.waitedSeconds,
    isFinal: open.length === 0 || (store !== null && !isNoted),
  };
}

/**
 * Tunes the open workloads of a program.
 * @param began when the build looked its program up first
 */
async function tuneMisses(
  missing: Building,
  store: Store,
  spentSeconds: number,
  began: number,
): Promise<Outcome> {
  const { surroundings, kept } = missing.means;
  const { settings, cacheDirectory } = surroundings;
  const { waitedSeconds } = missing.inspected.input;
  const before = toTune(missing);
  if (before.works.length === 0) return withoutTuning(missing, [], null, before.files);
  // A build that is no hit has the time to remove files of killed builds.
  tidyUp(cacheDirectory);

  const begun = performance.now();
  const seconds = () => waitedSeconds + (performance.now() - begun) / 1000;
  // A build that can go on from known records does not wait for other builds.
  const patienceFor = (works: readonly Work[]) =>
    works.every(({ goesOnFrom }) => goesOnFrom !== undefined) ? 0 : undefined;
  const surveyed = await surveyToTune(missing, patienceFor(before.works));
  if (isReason(surveyed)) {
    // The build that held the lock may have tuned the same workloads.
    const program = missing.again();
    const decisions = program.decide(new Map(), surveyed);
    return {
      ...{ program, decisions, seconds: seconds(), isFinal: false },
      ...{ confirmed: null, files: before.files },
    };
  }
  const program = await lookUpSurveyed(missing, surveyed, true);
  const { works, files } = toTune(program);
  const tuned =
    works.length === 0
      ? NOTHING_TUNED
      : await tuneProgram(works, program.with(program.decide(new Map())), {
          ...{ surroundings, kept, store, began },
          budgetSeconds: settings.budgetSeconds - spentSeconds - seconds(),
          patienceSeconds: patienceFor(works),
        });
  const { results, undecided, whyNot, confirmed } = tuned;
  if (settings.team !== undefined && !settings.isForeignDatabase && results.size > 0) {
    const { tellTeam } = await import('./ask-team.ts');
    await tellTeam(settings.team, surroundings);
  }
  const share = shareOf(settings.budgetSeconds, works.length);
  const isFinal = works.every(({ key }) => {
    const known = results.get(key);
    return known === undefined ? undecided.has(key) : !isUnfinished(known, share);
  });
  const decisions = program.decide(results, whyNot, undecided);
  return { program, decisions, seconds: seconds(), isFinal, confirmed, files };
}

/**
 * Surveys the input while nothing is measured on the machine. Waits for the measuring lock, by default as long as the budget lasts.
 * @returns the reason if there is no survey: another build held the lock, or nothing can be written
 */
async function surveyToTune(
  program: Building,
  patienceSeconds = program.means.surroundings.settings.budgetSeconds - program.inspected.input.waitedSeconds,
): Promise<FormedProgram | Reason> {
  const { surroundings } = program.means;
  if (program.inspected.input.surveyed) return program;
  try {
    using turn = await takeTurn(surroundings, patienceSeconds);
    return turn === null ? BUSY : await withSurvey(program, surroundings, true);
  } catch (error) {
    return because('internal-error', `tuning failed: ${messageOf(error)}`);
  }
}

/** Why nothing is measured in this build; null if measuring is allowed. */
export function whyUntuned(
  { store, problem, surroundings: { settings } }: BuildMeans,
  { site }: Inspected,
): Reason | null {
  if (problem !== null) return problem;
  if (site.whyNotHere !== null) return site.whyNotHere;
  if (settings.onMiss !== 'tune')
    return because('tuning-off', `no record, and tuning is off (on-miss=${settings.onMiss})`);
  if (settings.budgetSeconds === 0) return because('no-budget');
  if (settings.readonly) return because('read-only');
  return store === null ? because('no-database') : null;
}
