// What every operation of one compile gets: a record, or tuned, noted, or left to the default with a reason.
import { whenOrphaned } from '../compiler/parent.ts';
import { leaveOut, type Decision, type TunableOperation } from '../decision/decision.ts';
import { messageOf, tell } from '../report/tell.ts';
import type { Store } from '../store/store.ts';
import type { TuneOutcome } from '../tuner/tune-misses.ts';
import { lookUp, subjectOf, type Lookup } from './decide.ts';
import type { Command, Subjects, Surroundings } from './inspect.ts';
import { surveyText } from './operations.ts';
import { programIdentity } from './plan-memory.ts';
import { programMemory } from './program-memory.ts';
import { tidyUp } from './tidy.ts';

export interface Resolved {
  /** What was inspected, surveyed by now where anything was tuned. */
  readonly subjects: Subjects;
  readonly decisions: readonly Decision[];
  /** Seconds spent on tuning. */
  readonly seconds: number;
  /** Whether the same database would lead to the same decisions: nothing is still to be tuned or noted. */
  readonly settled: boolean;
}

/**
 * Decides about every operation: looks records up, and tunes what has none where that is wanted and possible.
 * @param whyNoStore why there is no database, when there is none
 */
export async function resolve(
  subjects: Subjects,
  store: Store | null,
  whyNoStore: string | null,
  command: Command,
  surroundings: Surroundings,
): Promise<Resolved> {
  const { settings } = surroundings;
  let lookup = lookUp(store, subjects);
  const decide = (...known: Parameters<Lookup['decide']>) =>
    withoutSlower(lookup.decide(...known), subjects, command, surroundings);
  if (lookup.misses.length === 0)
    return { subjects, decisions: decide(new Map(), ''), seconds: 0, settled: true };
  // A build that is no hit has the time to tidy up after those that were killed.
  tidyUp(surroundings.cacheDirectory);
  const whyNot = whyNoStore ?? whyUntuned(store, subjects, surroundings);
  if (whyNot !== null || store === null) {
    if (settings.onMiss === 'record' && store !== null && !settings.readonly)
      for (const miss of lookup.misses) store.noteMiss(subjectOf(miss, subjects));
    const settled = store !== null && settings.onMiss !== 'record';
    return { subjects, decisions: decide(new Map(), whyNot ?? ''), seconds: 0, settled };
  }

  const begun = performance.now();
  const seconds = () => (performance.now() - begun) / 1000;
  const surveyed = await surveyInTurn(subjects, command, surroundings);
  if (typeof surveyed === 'string') {
    // Whoever measured all that time may have tuned the same.
    lookup = lookUp(store, subjects);
    return { subjects, decisions: decide(new Map(), surveyed), seconds: seconds(), settled: false };
  }
  if (surveyed !== subjects) lookup = lookUp(store, surveyed);
  const { results, whyNot: untuned } =
    lookup.misses.length === 0
      ? { results: new Map<string, never>(), whyNot: '' }
      : await tune(lookup.misses, store, surveyed, command, surroundings, settings.budgetSeconds - seconds());
  const settled = lookup.misses.every(({ key }) => results.has(key));
  return { subjects: surveyed, decisions: decide(results, untuned), seconds: seconds(), settled };
}

/**
 * A survey that waits, as long as the budget lasts, until nobody measures: the compiler at work would disturb that.
 * @returns the reason as text when there is no turn: somebody measured all that time, or nothing can be written
 */
async function surveyInTurn(
  subjects: Subjects,
  command: Command,
  surroundings: Surroundings,
): Promise<Subjects | string> {
  if (subjects.surveyed) return subjects;
  const { cacheDirectory, settings } = surroundings;
  try {
    const { acquireMeasuringLock, BUSY } = await import('../tuner/lock.ts');
    const orphaned = new AbortController();
    const stopWatching = whenOrphaned(() => {
      orphaned.abort();
    });
    const lock = await acquireMeasuringLock(cacheDirectory, settings.budgetSeconds, orphaned.signal);
    stopWatching();
    if (lock === null) return BUSY;
    try {
      return await withSurvey(subjects, command, surroundings);
    } finally {
      lock.release();
    }
  } catch (error) {
    return `tuning failed: ${messageOf(error)}`;
  }
}

/** Configurations that were found to make this very program worse are left out of it. */
function withoutSlower(
  decisions: readonly Decision[],
  { digest }: Subjects,
  command: Command,
  { cacheDirectory }: Surroundings,
): readonly Decision[] {
  const leftOut = programMemory.recall(cacheDirectory, programIdentity(command, digest))?.leftOut ?? [];
  return leaveOut(decisions, leftOut, 'its configuration makes this program worse');
}

/** What is to be tuned should be what code is generated for, not what the text says. */
export async function withSurvey(
  subjects: Subjects,
  command: Command,
  surroundings: Surroundings,
): Promise<Subjects> {
  if (subjects.surveyed) return subjects;
  const surveyed = await surveyText(subjects, command, surroundings);
  return surveyed === null ? subjects : { ...subjects, ...surveyed };
}

/**
 * Tunes. A signal that asks for an end ends this process by that signal, when everything that was measured is kept. When
 * the caller has gone, nobody waits for a good result: what is left is the compile that would have gone on without us too.
 */
async function tune(
  misses: readonly TunableOperation[],
  store: Store,
  subjects: Subjects,
  command: Command,
  surroundings: Surroundings,
  budgetSeconds: number,
): Promise<TuneOutcome> {
  const { settings } = surroundings;
  // Nothing of this is loaded on a hit.
  const [{ tuneMisses }, { progressDisplay }, { exitLike }] = await Promise.all([
    import('../tuner/tune-misses.ts'),
    import('../report/progress.ts'),
    import('../compiler/run.ts'),
  ]);
  const interrupted = new AbortController();
  const ending: { signal: NodeJS.Signals | null } = { signal: null };
  const interrupt = (signal: NodeJS.Signals) => {
    ending.signal = signal;
    interrupted.abort();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, interrupt);
  const stopWatching = whenOrphaned(() => {
    interrupted.abort();
  });
  const display = progressDisplay();
  try {
    const outcome = await tuneMisses(misses, store, command, subjects, surroundings, {
      budgetSeconds,
      signal: interrupted.signal,
      onProgress: (progress) => {
        display.show(progress);
      },
    });
    const { signal } = ending;
    if (signal !== null) {
      display.clear();
      store.close();
      exitLike({ code: null, signal, forwarded: signal });
    }
    return outcome;
  } catch (error) {
    // A full disk, say: what is in the database already is used all the same.
    tell(`tuning failed: ${messageOf(error)}`, settings.log);
    return { results: new Map(), whyNot: `tuning failed: ${messageOf(error)}` };
  } finally {
    display.clear();
    stopWatching();
    for (const name of signals) process.off(name, interrupt);
  }
}

function whyUntuned(store: Store | null, subjects: Subjects, { settings }: Surroundings): string | null {
  if (subjects.whyNotHere !== null) return subjects.whyNotHere;
  if (settings.onMiss !== 'tune') return `no record, and tuning is off (on-miss=${settings.onMiss})`;
  if (settings.budgetSeconds === 0) return 'no record, and the tuning budget is 0';
  if (settings.readonly) return 'no record, and the database is read-only';
  return store === null ? 'no tuning database' : null;
}
