// What every operation of one compile gets: a record, or tuned, noted, or left to the default with a reason.
import type { Decision, Made } from '../decision/decision.ts';
import { messageOf, tell } from '../system/tell.ts';
import type { Store } from '../store/store.ts';
import type { TuneOutcome, Work } from '../tuning/tune-workloads.ts';
import { lookUp, wantedSubjects, type Lookup } from '../decision/look-up.ts';
import type { Inspected } from './inspect.ts';
import type { Story } from '../report/story.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { findMeasuringTools, type Command } from '../compiler/index.ts';
import { surveyText } from '../input/operations.ts';
import { placeOf } from '../store/subject.ts';
import { MISSING_MS } from '../team/missing.ts';
import { shareOf } from '../tuning/share.ts';
import { isUnfinished, isWorthAnotherTry } from '../tuning/undecided.ts';
import { inputIdentity } from '../compiler/command-identity.ts';
import { surveyMemory } from '../input/survey-memory.ts';
import type { KeptModules } from './kept-modules.ts';
import { limitsWithin, mayRun } from './last-word.ts';
import { isWorthAsking } from './worth-asking.ts';
import { whyLeftOut, inProgram, type ProgramMemory } from './program-memory.ts';
import { tidyUp } from '../system/tidy.ts';
import { BUSY, takeTurn } from '../site/turn.ts';

export interface Resolved {
  /** What was inspected, surveyed by now where anything was tuned. */
  readonly inspected: Inspected;
  readonly decisions: readonly Decision[];
  /** Seconds spent on tuning, and on waiting for others to end theirs. */
  readonly seconds: number;
  /** Whether the same database would lead to the same decisions: nothing is still to be tuned or noted. */
  readonly settled: boolean;
  /** Files beside the database that decided about it. */
  readonly files: readonly string[];
  /** Why nothing is measured in this build; null when something may be. */
  readonly whyNot: string | null;
  /** When others may know what is missing here, in milliseconds of the system's clock; null where nobody is asked. */
  readonly until: number | null;
}

/**
 * Decides about every operation: looks records up, and tunes what has none where that is wanted and possible.
 * @param whyNoStore why there is no database, when there is none
 * @param program what is known of the program as a whole
 * @param kept takes the program as it is, where that is compiled to see what takes its time
 * @param made what is decided already
 */
export async function resolve(
  inspected: Inspected,
  store: Store | null,
  whyNoStore: string | null,
  program: ProgramMemory | null,
  command: Command,
  surroundings: Surroundings,
  kept: KeptModules,
  made?: Made,
): Promise<Resolved> {
  const { settings } = surroundings;
  let lookup = lookUp(store, inspected.input, inspected.site, settings, made);
  const decide = (...known: Parameters<Lookup['decide']>) =>
    inProgram(lookup.decide(...known), program, lookup.marked, settings.inject);
  const { waitedSeconds } = inspected.input;
  const whyNot = whyNoStore ?? whyUntuned(store, inspected, surroundings);
  /** What the team knows of what is missing comes into the database, and is looked up again. */
  const askOthers = async ({ input, site }: Inspected) => {
    const { team: url } = settings;
    if (url === undefined || store === null || settings.readonly || lookup.misses.length === 0) return;
    const begun = performance.now();
    const workloads = lookup.misses.map(({ key }) => key);
    if (!isWorthAsking(url, { ...placeOf(site), workloads }, surroundings)) return;
    const { askTeam } = await import('./ask-team.ts');
    const missing = () => (lookup = lookUp(store, input, site, settings, made)).misses;
    await askTeam(missing, whyNot === null, begun, { url, site, surroundings });
  };
  const until = () =>
    settings.team === undefined || lookup.misses.length === 0 ? null : Date.now() + MISSING_MS;
  await askOthers(inspected);
  let tools: readonly string[] = [];
  /**
   * What this build tunes: all that is open, but for what it has too little time for, as was seen before, and for what was
   * marked because of this very program, which does without.
   */
  const toTune = (): readonly Work[] => {
    const missed = lookup.misses.filter(
      ({ key }) => whyLeftOut(program, key, lookup.marked.get(key)) === null,
    );
    const open = [...missed, ...lookup.narrow, ...lookup.unfinished];
    if (open.length === 0 || lookup.undecided().size === 0) return open;
    tools = Object.values(toolsOf(command, surroundings) ?? {});
    const seconds = shareOf(settings.budgetSeconds, open.length);
    return open.filter(({ key }) => {
      const before = lookup.undecided().get(key);
      return before === undefined || isWorthAnotherTry(before, seconds, tools);
    });
  };
  type Outcome = Pick<Resolved, 'inspected' | 'decisions' | 'seconds' | 'settled'>;
  const resolved = (outcome: Outcome): Resolved => ({ ...outcome, files: tools, whyNot, until: until() });
  let open = whyNot === null ? toTune() : lookup.misses;
  if (open.length === 0) {
    const decisions = decide(new Map(), '');
    return resolved({ inspected, decisions, seconds: waitedSeconds, settled: true });
  }
  // A build that is no hit has the time to tidy up after those that were killed.
  tidyUp(surroundings.cacheDirectory);
  if (whyNot !== null || store === null) {
    if (settings.onMiss === 'record' && store !== null && !settings.readonly)
      for (const subject of wantedSubjects(lookup, inspected.site)) store.noteMiss(subject);
    const settled = store !== null && settings.onMiss !== 'record';
    const decisions = decide(new Map(), whyNot ?? '');
    return resolved({ inspected, decisions, seconds: waitedSeconds, settled });
  }

  const begun = performance.now();
  const seconds = () => waitedSeconds + (performance.now() - begun) / 1000;
  // Who can do with what is known does not wait for others that measure.
  const patience = () => (open.every(({ goesOnFrom }) => goesOnFrom !== undefined) ? 0 : undefined);
  const surveyed = await surveyToTune(inspected, command, surroundings, patience());
  if (typeof surveyed === 'string') {
    // Whoever measured all that time may have tuned the same.
    lookup = lookUp(store, inspected.input, inspected.site, settings, made);
    const decisions = decide(new Map(), surveyed);
    return resolved({ inspected, decisions, seconds: seconds(), settled: false });
  }
  if (surveyed !== inspected) {
    lookup = lookUp(store, surveyed.input, surveyed.site, settings, made);
    await askOthers(surveyed);
    open = toTune();
  }
  const reserved = command.rewriting === undefined ? 0 : PROGRAM_SHARE * settings.budgetSeconds;
  const tuned =
    open.length === 0
      ? NOTHING_TUNED
      : await tune(
          open,
          store,
          surveyed,
          command,
          surroundings,
          kept,
          settings.budgetSeconds - seconds() - reserved,
          patience(),
        );
  const { results, undecided } = tuned;
  if (settings.team !== undefined && results.size > 0) {
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
  return resolved({ inspected: surveyed, decisions, seconds: seconds(), settled });
}

/**
 * What a program in other forms keeps of the budget, to be run with all of its operations data-tiled. That takes seconds, and gains
 * more than the tiles of a few operations.
 */
const PROGRAM_SHARE = 0.15;

const NOTHING_TUNED: TuneOutcome = { results: new Map(), undecided: new Map(), whyNot: '' };

/**
 * A survey that waits for its turn, as long as the budget lasts when not told otherwise: without one nothing is tuned
 * either.
 * @returns the reason as text when there is no turn: somebody measured all that time, or nothing can be written
 */
async function surveyToTune(
  inspected: Inspected,
  command: Command,
  surroundings: Surroundings,
  patienceSeconds = surroundings.settings.budgetSeconds - inspected.input.waitedSeconds,
): Promise<Inspected | string> {
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
    return `tuning failed: ${messageOf(error)}`;
  }
}

/**
 * What is tuned or injected should be what code is generated for, not what the text says.
 * @param hasTurn nobody measures as long as this takes
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

/** Tunes, until it is interrupted: everything that was measured is kept. */
async function tune(
  works: readonly Work[],
  store: Store,
  inspected: Inspected,
  command: Command,
  surroundings: Surroundings,
  kept: KeptModules,
  budgetSeconds: number,
  patienceSeconds: number | undefined,
): Promise<TuneOutcome> {
  const { settings } = surroundings;
  // Nothing of this is loaded on a hit.
  const [{ tuneWorkloads }, { storyOf }, { interruptible }] = await Promise.all([
    import('../tuning/tune-workloads.ts'),
    import('../report/story.ts'),
    import('./interruptible.ts'),
  ]);
  const story = storyOf(surroundings.cacheDirectory);
  story.begin(works.length, budgetSeconds);
  try {
    const outcome = await interruptible(
      async (signal) => {
        const begun = performance.now();
        const known = await tuneTogetherFirst(works, store, command, inspected, surroundings, kept, {
          budgetSeconds,
          patienceSeconds,
          signal,
          story,
        });
        const open = works.filter(({ key }) => !known.has(key));
        const secondsLeft = budgetSeconds - (performance.now() - begun) / 1000;
        const outcome =
          open.length === 0
            ? NOTHING_TUNED
            : await tuneWorkloads(open, store, inspected.site, toolsOf(command, surroundings), surroundings, {
                budgetSeconds: Math.max(0, secondsLeft),
                ...(patienceSeconds !== undefined && { patienceSeconds }),
                givenSeconds: settings.budgetSeconds,
                signal,
                dispatchSeconds: () => askDispatches(command, inspected, surroundings, kept, signal),
                onProgress: (progress) => {
                  story.progress(progress);
                },
              });
        return { ...outcome, results: new Map([...known, ...outcome.results]) };
      },
      () => {
        story.clear();
        store.close();
      },
    );
    story.end(works.length, outcome);
    return outcome;
  } catch (error) {
    // A full disk, say: what is in the database already is used all the same.
    tell(`tuning failed: ${messageOf(error)}`, settings.log);
    return { ...NOTHING_TUNED, whyNot: `tuning failed: ${messageOf(error)}` };
  } finally {
    story.clear();
  }
}

/** What is tuned of a program in the program, all at once, before anything is tuned by itself. */
async function tuneTogetherFirst(
  works: readonly Work[],
  store: Store,
  command: Command,
  inspected: Inspected,
  surroundings: Surroundings,
  kept: KeptModules,
  options: {
    readonly budgetSeconds: number;
    readonly patienceSeconds: number | undefined;
    readonly signal: AbortSignal;
    readonly story: Story;
  },
): Promise<TuneOutcome['results']> {
  const { settings } = surroundings;
  const { budgetSeconds, patienceSeconds, signal, story } = options;
  if (!mayRun(settings.budgetSeconds)) return new Map();
  const begun = performance.now();
  const turn = await takeTurn(surroundings, patienceSeconds ?? budgetSeconds);
  if (turn === null) return new Map();
  try {
    const { tuneInProgram } = await import('./program-rounds.ts');
    const limits = limitsWithin(settings.budgetSeconds, command.rewriting !== undefined);
    const secondsLeft = budgetSeconds - (performance.now() - begun) / 1000;
    return await tuneInProgram(
      works,
      store,
      command,
      inspected,
      surroundings,
      kept,
      limits,
      secondsLeft,
      signal,
      (progress) => {
        story.rounds(progress);
      },
    );
  } finally {
    turn.release();
  }
}

/** A compile takes about so many times as long as a survey. */
const SURVEYS_PER_COMPILE = 5;

/** What of the program takes how long, where finding it out is not likely to take half as long as tuning; empty otherwise. */
async function askDispatches(
  command: Command,
  inspected: Inspected,
  surroundings: Surroundings,
  kept: KeptModules,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const { settings, cacheDirectory } = surroundings;
  const limits = limitsWithin(settings.budgetSeconds, command.rewriting !== undefined);
  const compileSeconds = limits.compileSeconds / 2;
  const identity = inputIdentity(command, inspected.input.digest);
  const surveySeconds = surveyMemory.recall(cacheDirectory, identity)?.seconds ?? 0;
  if (!mayRun(settings.budgetSeconds) || SURVEYS_PER_COMPILE * surveySeconds > compileSeconds)
    return new Map();
  const { dispatchSeconds } = await import('./dispatch-seconds.ts');
  return dispatchSeconds(command, inspected, surroundings, kept, { ...limits, compileSeconds }, signal);
}

const toolsOf = ({ compiler }: Command, { env, root, cacheDirectory }: Surroundings) =>
  findMeasuringTools(compiler, env, { root, cacheDirectory });

/** Why nothing is measured in this build; null when something may be. */
export function whyUntuned(
  store: Store | null,
  inspected: Inspected,
  { settings }: Surroundings,
): string | null {
  if (inspected.site.whyNotHere !== null) return inspected.site.whyNotHere;
  if (settings.onMiss !== 'tune') return `no record, and tuning is off (on-miss=${settings.onMiss})`;
  if (settings.budgetSeconds === 0) return 'no record, and the tuning budget is 0';
  if (settings.readonly) return 'no record, and the database is read-only';
  return store === null ? 'no tuning database' : null;
}
