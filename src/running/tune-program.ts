// Tunes the open workloads of a program: first together in the program, then the others one by one.
import { findMeasuringTools } from '../compiler/find.ts';
import { surveyMemory } from '../input/survey-memory.ts';
import type { Story } from '../report/story.ts';
import { takeTurn } from '../site/turn.ts';
import type { Store } from '../store/store.ts';
import { subjectOf } from '../store/subject.ts';
import { messageOf, tell } from '../system/tell.ts';
import type { Known, TuneOutcome, Work } from '../tuning/tune-workloads.ts';
import { isOperationWork } from '../workload/workload.ts';
import { limitsWithin, whyNotRun } from './limits.ts';
import { offerTo } from './program-offer.ts';
import type { Confirmed, ProgramTuning } from './program-rounds.ts';
import { noteTimes } from './program-times.ts';
import type { KnownProgram, RunMeans } from './program-verdict.ts';
import type { MeasuredProgram } from './callable.ts';
import { because, type Reason } from '../system/reason.ts';

/** Tuned workloads, and the configurations that the program confirmed; null without such a run. */
export type Tuned = TuneOutcome & { readonly confirmed: Confirmed | null };

export const NOTHING_TUNED: Tuned = {
  results: new Map(),
  undecided: new Map(),
  whyNot: because('no-record'),
  confirmed: null,
};

/** Limits and settings of tuning. */
interface TuningMeans extends RunMeans {
  readonly budgetSeconds: number;
  /** Time of the lookup, in milliseconds of the system's clock. Other builds may have written records since. */
  readonly began: number;
  /** Longest wait for the measuring lock; undefined for the budget. */
  readonly patienceSeconds: number | undefined;
}

/** Tunes until it is interrupted. The database keeps all measurements. */
export async function tuneProgram(
  works: readonly Work[],
  current: Omit<KnownProgram, 'identity'>,
  means: TuningMeans,
): Promise<Tuned> {
  const { command, inspected } = current;
  const { surroundings, kept, store, budgetSeconds, patienceSeconds, began } = means;
  const { settings } = surroundings;
  // Not loaded on a hit.
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
    const tools = findMeasuringTools(command.compiler, surroundings.env, surroundings);
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
    const outcome = await interruptible(story, tune, () => {
      store.close();
    });
    story.end(works.length, outcome);
    return outcome;
  } catch (error) {
    // For example a full disk. The build still uses records of the database.
    tell(`tuning failed: ${messageOf(error)}`, settings.log);
    return { ...NOTHING_TUNED, whyNot: because('internal-error', `tuning failed: ${messageOf(error)}`) };
  }
}

const SPENT = because('budget-spent');
const UNSURE = because('no-certain-gain');

/** Workloads that were tuned together, and the workloads to tune alone. */
type TunedAtOnce = Pick<ProgramTuning, 'results' | 'confirmed'> & {
  readonly alone: readonly Work[];
  /** Why the other workloads have no result. */
  readonly whyNot: Reason;
};

/** Share of the time for dispatches if there are operations to tune alone. */
const DISPATCHES_SHARE = 0.5;

/** Tunes workloads together in the program. */
async function tuneAtOnce(
  program: MeasuredProgram,
  works: readonly Work[],
  current: Omit<KnownProgram, 'identity'>,
  { surroundings, store, budgetSeconds, patienceSeconds }: TuningMeans,
  story: Story,
): Promise<TunedAtOnce> {
  const nothing = { results: new Map<string, never>(), confirmed: null, alone: works, whyNot: SPENT };
  const given = surroundings.settings.budgetSeconds;
  /** Notes dispatches as undecided: a dispatch is tuned in its program alone, and the same time gives no new result. */
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
  const measuring = { ...surroundings, device: program.inspected.site.device };
  using turn = await takeTurn(measuring, patienceSeconds ?? budgetSeconds);
  if (turn === null) return nothing;
  const known = new Map<string, Known>();
  for (const work of works) {
    // Another build may have tuned the workload while this build waited.
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
  const { results, confirmed, lacksTime, isBegun } = await tuneInProgram(
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
  // The program would have to confirm further results: a later build does that. Without time for a round, each operation is tuned alone.
  const isOver = isTogether && (confirmed !== null || (lacksTime && isBegun));
  const whyNot = lacksTime ? SPENT : UNSURE;
  return { results: new Map([...known, ...results]), confirmed, alone: isOver ? [] : others, whyNot };
}

/** Time of a compile, in surveys. */
const SURVEYS_PER_COMPILE = 5;

/** Seconds of each dispatch, if measuring them is likely to take less than half of the tuning time; empty otherwise. */
async function askDispatches(program: MeasuredProgram, store: Store): Promise<ReadonlyMap<string, number>> {
  const { inspected, surroundings, limits } = program;
  const { settings, cacheDirectory } = surroundings;
  const surveySeconds = surveyMemory.recall(cacheDirectory, inspected.input.identity)?.seconds ?? 0;
  const isRun = whyNotRun(inspected.input, settings.budgetSeconds) === null;
  if (!isRun || SURVEYS_PER_COMPILE * surveySeconds > limits.compileSeconds / 2) return new Map();
  const { dispatchSeconds } = await import('./dispatch-seconds.ts');
  const seconds = await dispatchSeconds(program);
  await noteTimes(program, seconds, store);
  return seconds;
}
