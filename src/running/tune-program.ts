// Tunes the open workloads of a program: as many as possible at once in the program, then one after the other.
import type { Command } from '../compiler/command.ts';
import { findMeasuringTools } from '../compiler/find.ts';
import { inputIdentity } from '../compiler/command-identity.ts';
import type { Decision } from '../decision/decision.ts';
import { surveyMemory } from '../input/survey-memory.ts';
import type { Story } from '../report/story.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { takeTurn } from '../site/turn.ts';
import type { Store } from '../store/store.ts';
import { subjectOf } from '../store/subject.ts';
import { messageOf, tell } from '../system/tell.ts';
import type { Known, TuneOutcome, Work } from '../tuning/tune-workloads.ts';
import { isOperationWork } from '../workload/workload.ts';
import type { Inspected } from '../plan/inspected.ts';
import type { KeptModules } from '../plan/kept-modules.ts';
import { limitsWithin, whyNotRun } from './limits.ts';
import type { ProgramMemory } from './program-memory.ts';
import { offerTo } from './program-offer.ts';
import type { Confirmed, ProgramTuning } from './program-rounds.ts';
import { noteTimes } from './program-times.ts';
import type { MeasuredProgram } from './runnable.ts';
import { because, type Reason } from '../system/reason.ts';

/** Tuned workloads, and those that the program confirmed; null if the program was not run with all of them at once. */
export type Tuned = TuneOutcome & { readonly confirmed: Confirmed | null };

export const NOTHING_TUNED: Tuned = {
  results: new Map(),
  undecided: new Map(),
  whyNot: because('no-record'),
  confirmed: null,
};

/** A program as things stand. */
export interface CurrentProgram {
  readonly inspected: Inspected;
  readonly decisions: readonly Decision[];
  readonly memory: ProgramMemory | null;
}

/** Tools, limits and settings of tuning. */
export interface TuningMeans {
  readonly command: Command;
  readonly surroundings: Surroundings;
  readonly kept: KeptModules;
  readonly store: Store;
  readonly budgetSeconds: number;
  /** When the database was asked, in milliseconds of the system's clock: others may have found out more since. */
  readonly began: number;
  /** To wait for others that measure; as long as the budget lasts where it is undefined. */
  readonly patienceSeconds: number | undefined;
}

/** Tunes, until it is interrupted: everything that was measured is kept. */
export async function tuneProgram(
  works: readonly Work[],
  current: CurrentProgram,
  means: TuningMeans,
): Promise<Tuned> {
  const { inspected } = current;
  const { command, surroundings, kept, store, budgetSeconds, patienceSeconds, began } = means;
  const { settings } = surroundings;
  // Nothing of this is loaded on a hit.
  const [{ tuneWorkloads }, { storyOf }, { interruptible }] = await Promise.all([
    import('../tuning/tune-workloads.ts'),
    import('../report/story.ts'),
    import('./interruptible.ts'),
  ]);
  const story = storyOf(surroundings.cacheDirectory);
  story.begin(works.length, budgetSeconds);
  const limits = limitsWithin(settings.budgetSeconds, command.rewriting !== undefined);
  const tune = async (signal: AbortSignal): Promise<Tuned> => {
    const begun = performance.now();
    const program = { command, inspected, surroundings, kept, limits, signal };
    const { results, confirmed, alone, whyNot } = await tuneAtOnce(program, works, current, means, story);
    const open = alone.filter(({ key }) => !results.has(key));
    const secondsLeft = budgetSeconds - (performance.now() - begun) / 1000;
    if (open.length === 0) return { ...NOTHING_TUNED, whyNot, results, confirmed };
    const { env, root, cacheDirectory } = surroundings;
    const tools = findMeasuringTools(command.compiler, env, { root, cacheDirectory });
    const outcome = await tuneWorkloads(open, store, inspected.site, tools, surroundings, {
      budgetSeconds: Math.max(0, secondsLeft),
      ...(patienceSeconds !== undefined && { patienceSeconds }),
      givenSeconds: settings.budgetSeconds,
      began,
      signal,
      dispatchSeconds: () => askDispatches(program, store),
      onProgress: (progress) => {
        story.progress(progress);
      },
    });
    return { ...outcome, results: new Map([...results, ...outcome.results]), confirmed };
  };
  try {
    const outcome = await interruptible(tune, () => {
      story.clear();
      store.close();
    });
    story.end(works.length, outcome);
    return outcome;
  } catch (error) {
    // A full disk, say. Records in the database are still used.
    tell(`tuning failed: ${messageOf(error)}`, settings.log);
    return { ...NOTHING_TUNED, whyNot: because('internal-error', `tuning failed: ${messageOf(error)}`) };
  } finally {
    story.clear();
  }
}

const SPENT = because('budget-spent');
const UNSURE = because('no-certain-gain');

/** Workloads that were tuned at once, and those that remain to be tuned alone. */
type TunedAtOnce = Pick<ProgramTuning, 'results' | 'confirmed'> & {
  readonly alone: readonly Work[];
  /** Reason for workloads without a result. */
  readonly whyNot: Reason;
};

/** How much of the time dispatches have where there are a few operations as well. */
const DISPATCHES_SHARE = 0.5;

/** Tunes workloads in the program, all at once. */
async function tuneAtOnce(
  program: MeasuredProgram,
  works: readonly Work[],
  current: CurrentProgram,
  { surroundings, store, budgetSeconds, patienceSeconds }: TuningMeans,
  story: Story,
): Promise<TunedAtOnce> {
  const nothing = { results: new Map<string, never>(), confirmed: null, alone: works, whyNot: SPENT };
  const given = surroundings.settings.budgetSeconds;
  /** A dispatch is there in its program alone: the same time again tells nothing new of it. */
  const giveUp = (all: readonly Work[], reason: string) => {
    for (const work of all)
      if (!isOperationWork(work.workload))
        store.noteUndecided(subjectOf(work, program.inspected.site), reason, given);
  };
  const why = whyNotRun(program.inspected.input, given);
  if (why !== null) {
    giveUp(works, `the program is not run: ${why.reason}`);
    return nothing;
  }
  const [{ contendersOf, tuneInProgram }, { recordSince }] = await Promise.all([
    import('./program-rounds.ts'),
    import('../tuning/tune-workloads.ts'),
  ]);
  if (contendersOf(works).length === 0) return nothing;
  const begun = performance.now();
  const turn = await takeTurn(surroundings, patienceSeconds ?? budgetSeconds);
  if (turn === null) return nothing;
  try {
    const known = new Map<string, Known>();
    for (const work of works) {
      // Others may have found out while we waited.
      const found = recordSince(work, store, program.inspected.site);
      if (found !== null) known.set(work.key, { ...found, outcome: 'hit' });
    }
    const open = contendersOf(works.filter(({ key }) => !known.has(key)));
    if (open.length === 0) return { ...nothing, results: known };
    const offer = offerTo(current, surroundings.settings);
    const others = works.filter(({ workload }) => isOperationWork(workload));
    const isAll = others.every((work) => known.has(work.key) || open.includes(work));
    const share = isAll ? 1 : DISPATCHES_SHARE;
    const secondsLeft = share * budgetSeconds - (performance.now() - begun) / 1000;
    const { results, confirmed, lacksTime } = await tuneInProgram(
      program,
      open,
      current.decisions,
      offer,
      store,
      secondsLeft,
      (progress) => {
        story.rounds(progress);
      },
    );
    const left = open.filter(({ key }) => !results.has(key));
    if (!lacksTime) giveUp(left, UNSURE.reason);
    const isTogether = open.some(({ workload }) => isOperationWork(workload));
    // The program would have to confirm anything more again: another build does that.
    const isOver = isTogether && (confirmed !== null || lacksTime);
    const whyNot = lacksTime ? SPENT : UNSURE;
    return { results: new Map([...known, ...results]), confirmed, alone: isOver ? [] : others, whyNot };
  } finally {
    turn.release();
  }
}

/** A compile takes about so many times as long as a survey. */
const SURVEYS_PER_COMPILE = 5;

/** Seconds of each dispatch, if measuring them is likely to take less than half of the tuning time; empty otherwise. */
async function askDispatches(program: MeasuredProgram, store: Store): Promise<ReadonlyMap<string, number>> {
  const { command, inspected, surroundings, limits } = program;
  const { settings, cacheDirectory } = surroundings;
  const compileSeconds = limits.compileSeconds / 2;
  const identity = inputIdentity(command, inspected.input.digest);
  const surveySeconds = surveyMemory.recall(cacheDirectory, identity)?.seconds ?? 0;
  const isRun = whyNotRun(inspected.input, settings.budgetSeconds) === null;
  if (!isRun || SURVEYS_PER_COMPILE * surveySeconds > compileSeconds) return new Map();
  const { dispatchSeconds } = await import('./dispatch-seconds.ts');
  const seconds = await dispatchSeconds({ ...program, limits: { ...limits, compileSeconds } });
  await noteTimes(program, seconds, store);
  return seconds;
}
