// A plan carried out: group by group, each of one site, surveyed just before it is measured. Whatever ends the run, what was
// measured is in the database, and the same plan made anew goes on from there.
import type { Known, TuneOutcome, Work } from '../tuning/tune-workloads.ts';
import { shareOf } from '../tuning/share.ts';
import type { TuningResult } from '../tuning/result.ts';
import type { Plan, Planned } from './plan.ts';

/** What a plan is carried out by: this machine's tools, or what a test makes up. */
export interface Executor {
  /**
   * What code is generated for, of planned work of one site, and whether that is still to be done; as many as were given, in
   * the same order.
   */
  prepare(planned: readonly Planned[]): Promise<readonly Prepared[]>;
  /** Tunes work of one site, together. */
  tune(
    works: readonly Work[],
    again: ReadonlySet<string>,
    site: number,
    options: GroupOptions,
  ): Promise<TuneOutcome>;
}

/** Planned work just before it is measured. */
export type Prepared =
  | { readonly work: Work; readonly isUnfinished: boolean }
  | { readonly known: TuningResult }
  | { readonly skipped: string };

export interface GroupOptions {
  readonly budgetSeconds: number;
  /** Ends what is under way, and decides with what is known. */
  readonly finishEarly: AbortSignal;
  /** Ends everything at once. */
  readonly signal: AbortSignal;
  /** May be told of each as soon as it is known; the outcome has all of them. */
  readonly onResult: (key: string, known: Known) => void;
}

/** What became of planned work. */
export interface Populated {
  readonly planned: Planned;
  /** Of what was measured. */
  readonly key: string;
  /** Null where there is no record; then there is a reason. */
  readonly result: TuningResult | null;
  /** Whether it was found in the database: another process was quicker, or the survey showed that it is the same as another. */
  readonly wasKnown: boolean;
  readonly reason: string;
}

export interface PopulateOptions {
  /** Seconds for everything; without, every search goes on until it is over. */
  readonly budgetSeconds?: number | undefined;
  /** How many are tuned together: one is compiled while another one is, and timed alone. */
  readonly atOnce: number;
  readonly finishEarly: AbortSignal;
  readonly signal: AbortSignal;
  /** Seconds on a clock that never goes back. */
  readonly clock: () => number;
  /** Is told before a group is begun. */
  readonly onGroup?: (group: readonly Planned[]) => void;
  /** Is told of each as soon as it is known. */
  readonly onDone?: (done: Populated) => void;
}

/** How many are surveyed at once: each takes a part of the second that the compiler takes to start. */
const SURVEYED_AT_ONCE = 32;

/** A search that takes longer is hung, or of something that takes minutes to run once. */
export const MOST_SECONDS_EACH = 600;

const INTERRUPTED = 'the run was interrupted; the same command goes on';
const SPENT = 'the budget of the run is spent; the same command goes on';

/** Whether Ctrl-C ended the run early. */
export const isInterrupted = (results: readonly Populated[]): boolean =>
  results.some(({ reason }) => reason === INTERRUPTED);

/** Carries a plan out as far as time and signals let it, and says of each what became of it, in the order of the plan. */
export async function populate(
  plan: Pick<Plan, 'todo'>,
  executor: Executor,
  options: PopulateOptions,
): Promise<Populated[]> {
  const { atOnce, finishEarly, signal, clock, onGroup, onDone } = options;
  const end = clock() + (options.budgetSeconds ?? Infinity);
  const done = new Map<Planned, Populated>();
  const note = (planned: Planned, rest: Omit<Populated, 'planned'>) => {
    const one = { planned, ...rest };
    done.set(planned, one);
    onDone?.(one);
  };
  const prepared = new Map<Planned, Prepared>();
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
    const works = new Map<string, { planned: Planned[]; work: Work; isUnfinished: boolean }>();
    for (const planned of group) {
      const what = prepared.get(planned)!;
      if ('skipped' in what)
        note(planned, { key: planned.work.key, result: null, wasKnown: false, reason: what.skipped });
      else if ('known' in what)
        note(planned, { key: planned.work.key, result: what.known, wasKnown: true, reason: '' });
      else {
        const same = works.get(what.work.key);
        if (same === undefined) works.set(what.work.key, { planned: [planned], ...what });
        else same.planned.push(planned);
      }
    }
    if (works.size > 0) {
      onGroup?.(group);
      const each = [...works.values()];
      const budgetSeconds = Math.min(
        MOST_SECONDS_EACH * works.size,
        works.size * shareOf(end - clock(), open.length),
      );
      const onResult = (key: string, known: Known) => {
        for (const one of works.get(key)!.planned)
          if (!done.has(one))
            note(one, { key, result: known, wasKnown: known.outcome === 'hit', reason: '' });
      };
      const again = new Set(each.flatMap(({ work, isUnfinished }) => (isUnfinished ? [work.key] : [])));
      const outcome = await executor.tune(
        each.map(({ work }) => work),
        again,
        site,
        { budgetSeconds, finishEarly, signal, onResult },
      );
      for (const { planned, work } of each) {
        const known = outcome.results.get(work.key);
        const reason =
          outcome.undecided.get(work.key)?.reason ?? (isStopped() ? INTERRUPTED : outcome.whyNot.reason);
        if (known !== undefined) onResult(work.key, known);
        else for (const one of planned) note(one, { key: work.key, result: null, wasKnown: false, reason });
      }
    }
    const handled = new Set(group);
    open = open.filter((one) => !handled.has(one));
  }
  const why = isStopped() ? INTERRUPTED : SPENT;
  for (const planned of open)
    note(planned, { key: planned.work.key, result: null, wasKnown: false, reason: why });
  return plan.todo.map((planned) => done.get(planned)!);
}
