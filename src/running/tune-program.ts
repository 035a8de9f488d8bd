// Tunes the open workloads of a program: first together in the program, then the others one by one.
import { findMeasuringTools } from '../compiler/find.ts';
import type { Terminal } from '../report/terminal.ts';
import { takeTurn } from '../site/turn.ts';
import { subjectOf } from '../store/subject.ts';
import { messageOf, tell } from '../system/tell.ts';
import type { Known, TuneOutcome, Work } from '../tuning/tune-workloads.ts';
import { needsProgram } from '../workload/workload.ts';
import { limitsWithin, whyNotRun } from './limits.ts';
import type { Confirmed } from './program-rounds.ts';
import type { RunMeans } from './program-verdict.ts';
import type { KnownProgram } from './variants/memory.ts';
import type { DecidedProgram } from './verify-program.ts';
import { because } from '../system/reason.ts';

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
  current: KnownProgram,
  means: TuningMeans,
): Promise<Tuned> {
  const { command, inspected } = current;
  const { surroundings, kept, store, budgetSeconds, patienceSeconds, began } = means;
  const { settings } = surroundings;
  // Not loaded on a hit.
  const [{ tuneWorkloads }, { terminalOf }, { interruptible }] = await Promise.all([
    import('../tuning/tune-workloads.ts'),
    import('../report/terminal.ts'),
    import('./interruptible.ts'),
  ]);
  const terminal = terminalOf(surroundings.cacheDirectory);
  terminal.begin(works.length, budgetSeconds);
  const limits = limitsWithin(settings, command.rewriting !== undefined);
  const tune = async (signal: AbortSignal): Promise<Tuned> => {
    const begun = performance.now();
    const program = { ...current, surroundings, kept, limits, signal };
    const { alone, ...together } = await tuneAtOnce(program, works, means, terminal);
    const open = alone.filter(({ key }) => !together.results.has(key));
    const secondsLeft = budgetSeconds - (performance.now() - begun) / 1000;
    if (open.length === 0) return together;
    const tools = findMeasuringTools(command.compiler, surroundings.env, surroundings);
    const { results, ...outcome } = await tuneWorkloads(open, store, inspected.site, tools, surroundings, {
      budgetSeconds: Math.max(0, secondsLeft),
      ...(patienceSeconds !== undefined && { patienceSeconds }),
      givenSeconds: settings.budgetSeconds,
      began,
      signal,
      dispatchSeconds: async () => (await import('./dispatch-seconds.ts')).dispatchSeconds(program, store),
      onProgress: (progress) => {
        terminal.progress(progress);
      },
    });
    return { ...together, ...outcome, results: new Map([...together.results, ...results]) };
  };
  try {
    const outcome = await interruptible(terminal, tune, () => {
      store.close();
    });
    terminal.end(works.length, outcome);
    return outcome;
  } catch (error) {
    // For example a full disk. The build still uses records of the database.
    tell(`tuning failed: ${messageOf(error)}`, settings.log);
    return { ...NOTHING_TUNED, whyNot: because('internal-error', `tuning failed: ${messageOf(error)}`) };
  }
}

const SPENT = because('budget-spent');
const UNSURE = because('no-certain-gain');

/** Share of the time for dispatches if there are operations to tune alone. */
const DISPATCHES_SHARE = 0.5;

/** Tunes workloads together in the program. @returns also the workloads to tune alone */
async function tuneAtOnce(
  program: DecidedProgram,
  works: readonly Work[],
  { surroundings, store, budgetSeconds, patienceSeconds }: TuningMeans,
  terminal: Terminal,
): Promise<Tuned & { readonly alone: readonly Work[] }> {
  const nothing = { ...NOTHING_TUNED, alone: works, whyNot: SPENT };
  const given = surroundings.settings.budgetSeconds;
  /** Notes dispatches as undecided: a dispatch is tuned in its program alone, and the same time gives no new result. */
  const giveUp = (all: readonly Work[], reason: string) => {
    for (const work of all)
      if (needsProgram(work.workload))
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
  const others = works.filter(({ workload }) => !needsProgram(workload));
  const isAll = others.every((work) => known.has(work.key) || open.includes(work));
  const share = isAll ? 1 : DISPATCHES_SHARE;
  const secondsLeft = share * budgetSeconds - (performance.now() - begun) / 1000;
  const tuned = await tuneInProgram(program, open, store, secondsLeft, terminal);
  const { results, confirmed, lacksTime, isBegun } = tuned;
  const left = open.filter(({ key }) => !results.has(key));
  if (!lacksTime) giveUp(left, UNSURE.reason);
  const isTogether = open.some(({ workload }) => !needsProgram(workload));
  // The program would have to confirm further results: a later build does that. Without time for a round, each operation is tuned alone.
  const isOver = isTogether && (confirmed !== null || (lacksTime && isBegun));
  const whyNot = lacksTime ? SPENT : UNSURE;
  const all = new Map([...known, ...results]);
  return { ...nothing, results: all, confirmed, alone: isOver ? [] : others, whyNot };
}
