// Executes a plan group by group. Each group belongs to one site and is surveyed just before its measurement. After an
// interruption, all measured results are in the database, and the next run continues from there.
import type { TuneOutcome, Work } from '../tuning/tune-workloads.ts';
import { shareOf } from '../tuning/schedule.ts';
import type { TuningResult } from '../tuning/result.ts';
import { isUnfinished, type Plan, type Planned } from './plan.ts';

/** Executes planned work: with the tools of this machine, or in tests. */
export interface Executor {
  /** Surveys planned work of one site. Returns it with its final workloads and answers, in the same order. */
  prepare(planned: readonly Planned[]): Promise<readonly Planned[]>;
  /** Tunes work of one site together. @param again keys of workloads to tune even if they have a record */
  tune(
    works: readonly Work[],
    again: ReadonlySet<string>,
    site: number,
    options: GroupOptions,
  ): Promise<TuneOutcome>;
}

export interface GroupOptions {
  readonly budgetSeconds: number;
  /** Ends the current search early, with a decision from its measurements. */
  readonly finishEarly: AbortSignal;
  /** Ends everything at once. */
  readonly signal: AbortSignal;
}

export interface Populated {
  readonly planned: Planned;
  /** Key of the measured workload. */
  readonly key: string;
  /** Null without a record. */
  readonly result: TuningResult | null;
  /** Whether the record was in the database: from another process, or for an equal workload after the survey. */
  readonly wasKnown: boolean;
  readonly reason: string;
}

export interface PopulateOptions extends Pick<GroupOptions, 'finishEarly' | 'signal'> {
  /** Seconds for the whole run. Without a budget, every search runs to its end. */
  readonly budgetSeconds?: number | undefined;
  /** Workloads of each group. They are compiled in parallel and timed one at a time. */
  readonly atOnce: number;
  /** Seconds of a monotonic clock. */
  readonly clock: () => number;
  readonly onDone?: (done: Populated) => void;
}

/** Shapes of each survey. One survey of many shares the start-up time of the compiler. */
export const SURVEYED_AT_ONCE = 32;

/** Limit of seconds for each workload, for searches that hang or for programs that run for minutes. */
export const MOST_SECONDS_EACH = 600;

const INTERRUPTED = 'the run was interrupted; the same command resumes';
const SPENT = 'the budget of the run is spent; the same command resumes';

/** Whether Ctrl-C ended the run early. */
export const isInterrupted = (results: readonly Populated[]): boolean =>
  results.some(({ reason }) => reason === INTERRUPTED);

/** Executes a plan until the budget or a signal ends it. Returns the results in the order of the plan. */
export async function populate(
  plan: Pick<Plan, 'todo'>,
  executor: Executor,
  options: PopulateOptions,
): Promise<Populated[]> {
  const { atOnce, finishEarly, signal, clock, onDone } = options;
  const end = clock() + (options.budgetSeconds ?? Infinity);
  const done = new Map<Planned, Populated>();
  const note = (
    planned: Planned,
    key: string,
    known: TuningResult | null,
    wasKnown: boolean,
    reason = '',
  ) => {
    if (done.has(planned)) return;
    const one = { planned, key, result: known, wasKnown, reason };
    done.set(planned, one);
    onDone?.(one);
  };
  const prepared = new Map<Planned, Planned>();
  const isStopped = () => finishEarly.aborted || signal.aborted;
  let open: readonly Planned[] = plan.todo;
  while (open.length > 0 && !isStopped() && clock() < end) {
    const { site } = open[0]!;
    const own = open.filter((one) => one.site === site);
    const group = own.slice(0, atOnce);
    while (group.some((one) => !prepared.has(one))) {
      const some = own.filter((one) => !prepared.has(one)).slice(0, SURVEYED_AT_ONCE);
      const found = await executor.prepare(some);
      for (const [i, one] of some.entries()) prepared.set(one, found[i]!);
    }
    const toTune: Planned[] = [];
    for (const planned of group) {
      const { work, standing, result } = prepared.get(planned)!;
      if (standing.kind === 'skipped') note(planned, work.key, null, false, standing.reason);
      else if (standing.kind === 'known') note(planned, work.key, result, true);
      else toTune.push(planned);
    }
    if (toTune.length > 0) {
      const byKey = Map.groupBy(toTune, (planned) => prepared.get(planned)!.work.key);
      const asked = [...byKey.values()].map(([first]) => prepared.get(first!)!);
      const share = Math.min(MOST_SECONDS_EACH, shareOf(end - clock(), open.length));
      const outcome = await executor.tune(
        asked.map(({ work }) => work),
        new Set(asked.filter(isUnfinished).map(({ work }) => work.key)),
        site,
        { budgetSeconds: asked.length * share, finishEarly, signal },
      );
      for (const [key, known] of outcome.results)
        for (const planned of byKey.get(key)!) note(planned, key, known, known.outcome === 'hit');
      for (const [key, own] of byKey) {
        const why = outcome.undecided.get(key)?.reason;
        for (const planned of own)
          note(planned, key, null, false, why ?? (isStopped() ? INTERRUPTED : outcome.whyNot.reason));
      }
    }
    const handled = new Set(group);
    open = open.filter((one) => !handled.has(one));
  }
  const why = isStopped() ? INTERRUPTED : SPENT;
  for (const planned of open) note(planned, planned.work.key, null, false, why);
  return plan.todo.map((planned) => done.get(planned)!);
}
