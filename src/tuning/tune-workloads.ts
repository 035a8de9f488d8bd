// Tunes many workloads within one budget.
import { join } from 'node:path';
import type { SpaceOptions } from '../backend/backend.ts';
import { backendNamed } from '../backend/index.ts';
import type { MeasuringTools } from '../compiler/find.ts';
import { isDispatchOf } from '../input/operation.ts';
import { sumOf } from '../measure/statistics.ts';
import { StoppedError } from '../measure/toolchain.ts';
import { defaultStrategy } from '../search/index.ts';
import type { StrategyFactory } from '../search/strategy.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { noTuner, type Site } from '../site/site.ts';
import { BUSY } from '../site/turn.ts';
import { lacksFamily } from '../store/choose.ts';
import type { Store, TuningRecord, Undecided } from '../store/store.ts';
import { placeOf, subjectOf } from '../store/subject.ts';
import { LONGEST_TIMER_MS } from '../system/limits.ts';
import { Semaphore } from '../system/semaphore.ts';
import { likelyCost, needsProgram, type Workload } from '../workload/workload.ts';
import { recordOf } from './earlier.ts';
import { likelyCompilesAtOnce, measuringAlone, toolchainOf } from './here.ts';
import { realBench } from './real-bench.ts';
import type { TuningResult } from './result.ts';
import { shareOf } from './schedule.ts';
import { tuneTogether } from './tune-together.ts';
import { isWorthAnotherTry } from './undecided.ts';
import { DEFAULT_EFFORT, EFFORT_ALONE, type Effort, type TuningProgress } from './search-job.ts';
import { WorkloadSearch } from './workload-search.ts';
import { because, type Reason } from '../system/reason.ts';

/** A workload to tune. */
export interface Work {
  readonly key: string;
  readonly workload: Workload;
  /** Number of its operations in the program. */
  readonly count: number;
  /** Names of its executables in the program; absent without a program. */
  readonly executables?: readonly string[];
  /** Options of its search space. */
  readonly options: SpaceOptions;
  /** The record that the search continues. If another process has searched since, its record is used instead. */
  readonly goesOnFrom?: Pick<TuningRecord, 'digest' | 'evidence'>;
  /** The record of a device of the same class, or of another compiler. Its configuration is verified before any search. */
  readonly alike?: TuningRecord;
}

export interface TuneOptions {
  readonly budgetSeconds: number;
  /** Longest wait for other processes that measure, in seconds; the budget if left out. */
  readonly patienceSeconds?: number;
  /** The user's whole budget in seconds. Part of it may be spent already. */
  readonly givenSeconds: number;
  readonly signal: AbortSignal;
  readonly finishEarly?: AbortSignal;
  readonly strategy?: StrategyFactory;
  readonly effort?: Effort;
  /** Number of compilers that run at once; by the machine if left out. */
  readonly compilesAtOnce?: number;
  /**
   * Seconds of each dispatch in one run of the program by default, by name; empty if unknown. Called while this process holds the
   * measuring lock; its time does not count.
   */
  readonly dispatchSeconds?: () => Promise<ReadonlyMap<string, number>>;
  /** Whether each workload is searched to its end, as a single one is: see `Budget`. */
  readonly isEachAlone?: boolean;
  /** Results of other processes since this time count, in milliseconds since the epoch; now if left out. */
  readonly began?: number;
  /** Keys to tune even if there is a record. */
  readonly again?: ReadonlySet<string>;
  readonly onProgress?: (progress: TuningProgress) => void;
}

/** Result of a workload, and whether it was tuned here or found in the database. */
export interface Known extends TuningResult {
  readonly outcome: 'hit' | 'tuned';
}

export interface TuneOutcome {
  readonly results: ReadonlyMap<string, Known>;
  /** Workloads that were tried and could not be decided. */
  readonly undecided: ReadonlyMap<string, Undecided>;
  /** Why the others have no result. */
  readonly whyNot: Reason;
}

/** So few workloads get equal shares of the time; more are weighted by their share of the program's time. */
const FEW = 4;

/** Seconds that tuning a workload needs. With less, the next build tunes it. */
const LEAST_SECONDS = 4;

/**
 * Largest overrun of the budget, as a share of it: a plan takes longer on a busy machine. Runs of the program may overrun by as
 * much again.
 */
const GRACE = 0.1;

/** A smaller budget is extended to so many seconds, so that something can be decided. */
const LEAST_LIMIT_SECONDS = 16.5;

/** Seconds of one run of the program in a workload; null if none of its dispatches was timed. */
export function programSeconds(
  work: Pick<Work, 'executables'>,
  dispatchSeconds: ReadonlyMap<string, number>,
): number | null {
  const own = [...dispatchSeconds].filter(([name]) => isDispatchOf(work, name));
  return own.length === 0 ? null : sumOf(own.map(([, seconds]) => seconds));
}

/** A search that finds nothing better changes only the seconds of the record. */
const isSameSearch = (a: TuningRecord, b: Work['goesOnFrom']): boolean =>
  a.digest === b?.digest && a.evidence.tuningSeconds === b.evidence.tuningSeconds;

/** A record that another process has made for a workload, if it answers everything; else null. */
export function recordSince(work: Work, store: Store, site: Site): TuningRecord | null {
  const found = recordOf(store, { workload: work.key, ...placeOf(site) });
  if (found === null || isSameSearch(found, work.goesOnFrom)) return null;
  const families = backendNamed(site.target.key)?.tuning(work.workload).families(work.options) ?? [];
  return lacksFamily(found.evidence, families) ? null : found;
}

/**
 * Tunes workloads together. The workload that is likely to save most of the program's time gets the next part of the budget; the
 * next build tunes the rest. Waiting for another measuring process counts, and its results are used.
 */
export async function tuneWorkloads(
  works: readonly Work[],
  store: Store,
  site: Site,
  tools: MeasuringTools | null,
  surroundings: Pick<Surroundings, 'env' | 'cacheDirectory'>,
  options: TuneOptions,
): Promise<TuneOutcome> {
  const results = new Map<string, Known>();
  const undecided = new Map<string, Undecided>();
  const backend = backendNamed(site.target.key);
  const clock = () => performance.now() / 1000;
  let end = clock() + options.budgetSeconds;
  const { cacheDirectory } = surroundings;
  const ended = (whyNot: Reason): TuneOutcome => ({ results, undecided, whyNot });
  if (backend === undefined) return ended(site.whyNotHere ?? noTuner(site.target));
  if (tools === null) return ended(because('tools-missing'));
  const revocation = store.ownRevocation();
  if (revocation !== null) {
    const { scope, value, reason } = revocation;
    return ended(
      because('revoked', `nobody reads what is tuned here: ${scope} ${value} is revoked (${reason})`),
    );
  }

  const began = options.began ?? Date.now();
  /** Uses a result that another process made while this one waited: a record, or the note that `seconds` do not suffice. */
  const takeOver = (work: Work, seconds: number): boolean => {
    if (options.again?.has(work.key) === true) return false;
    const [noted] = store.findUndecided([work.key], placeOf(site));
    if (noted && Date.parse(noted.lastTriedAt) >= began && !isWorthAnotherTry(noted, seconds, [])) {
      undecided.set(work.key, noted);
      return true;
    }
    const found = recordSince(work, store, site);
    if (found === null) return false;
    results.set(work.key, { ...found, outcome: 'hit' });
    return true;
  };
  let whyNot = because('budget-spent');
  const patience = options.patienceSeconds ?? options.budgetSeconds;
  const measuring = { ...surroundings, device: site.device };
  const why = await measuringAlone(measuring, patience, options.signal, async (folder) => {
    const share = shareOf(end - clock(), works.length);
    const left = works.flatMap((work) => {
      const { workload } = work;
      return !needsProgram(workload) && !takeOver(work, share) ? [{ ...work, workload }] : [];
    });
    const asked = clock();
    const dispatchSeconds = left.length > FEW ? await options.dispatchSeconds?.() : undefined;
    end += clock() - asked;
    const graceSeconds = Math.max(LEAST_LIMIT_SECONDS - options.givenSeconds, GRACE * options.givenSeconds);
    const overdueMs = 1000 * (end - clock() + graceSeconds);
    const overdue = AbortSignal.timeout(Math.min(LONGEST_TIMER_MS, Math.max(0, Math.ceil(overdueMs))));
    const signal = AbortSignal.any([options.signal, overdue]);
    const compilesAtOnce = options.compilesAtOnce ?? likelyCompilesAtOnce();
    const compiles = new Semaphore(compilesAtOnce);
    const isAlone = options.isEachAlone === true || left.length === 1;
    const effort = options.effort ?? (isAlone ? EFFORT_ALONE : DEFAULT_EFFORT);
    const { finishEarly } = options;
    const parts = left.map((work, i) => {
      // Several are compiled at once.
      const own = join(folder, String(i));
      const toolchain = toolchainOf(site, tools, own, cacheDirectory, signal, compiles);
      const search = new WorkloadSearch(realBench(toolchain, work.workload), store, {
        subject: subjectOf(work, site),
        backend,
        options: work.options,
        strategy: options.strategy ?? defaultStrategy,
        effort,
        budgetSeconds: share,
        clock,
        ...(work.alike && options.again?.has(work.key) !== true && { alike: work.alike }),
        onProgress: (progress) => {
          const decided = results.size + undecided.size;
          const secondsLeft = Math.max(0, end - clock());
          options.onProgress?.({ ...progress, secondsLeft, workloads: works.length, decided });
        },
      });
      return {
        work,
        search,
        count: work.count,
        likelyCost: likelyCost(work.workload),
        programSeconds: programSeconds(work, dispatchSeconds ?? new Map()),
      };
    });
    await tuneTogether(
      parts,
      // A user with a smaller budget gets what is possible within it.
      {
        ...{ end, clock, effort, compilesAtOnce, isAlone, finishEarly },
        leastSeconds: Math.min(LEAST_SECONDS, options.givenSeconds / 2),
      },
      ({ work }, result) => {
        if (result !== null) {
          results.set(work.key, { ...result, outcome: 'tuned' });
          return;
        }
        const [row] = store.findUndecided([work.key], subjectOf(work, site));
        if (row !== undefined) undecided.set(work.key, row);
        else whyNot = because(finishEarly?.aborted === true ? 'interrupted' : 'machine-busy');
      },
    ).catch((error: unknown) => {
      if (!(error instanceof StoppedError) || error.cause !== undefined || !overdue.aborted) throw error;
      whyNot = because('machine-busy', 'tuning took much longer than its budget: the machine is busy');
    });
    return null;
  });
  if (why === BUSY) for (const work of works) takeOver(work, 0);
  return ended(why ?? whyNot);
}
