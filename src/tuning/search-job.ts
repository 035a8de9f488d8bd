// What a search is given, and what it gives while it runs.
import type { Backend, SpaceOptions } from '../backend/backend.ts';
import type { StrategyFactory } from '../search/strategy.ts';
import type { Subject, TuningRecord } from '../store/store.ts';
import type { TuningResult } from './result.ts';

/** How far a search goes when the budget does not end it first. */
export interface Effort {
  readonly trialsPerBatch: number;
  readonly maxTrials: number;
  /** Batches in a row without a gain of 1% after which the search is over. */
  readonly patience: number;
  readonly finalists: number;
}

export const DEFAULT_EFFORT: Effort = { trialsPerBatch: 16, maxTrials: 160, patience: 4, finalists: 4 };

/** What is alone has all of the time: it takes more than four batches to walk once along every knob. */
export const EFFORT_ALONE: Effort = { ...DEFAULT_EFFORT, patience: 6 };

/** What a search says of itself while it runs. Seconds are of one execution. */
export interface TuningProgress {
  readonly workload: string;
  /** Operations on numbers of one execution; the geometric mean over the sizes of dynamic dimensions. */
  readonly flops: number;
  readonly stage: 'search' | 'finals';
  readonly trials: number;
  readonly defaultSeconds: number;
  readonly bestSeconds: number;
  /** Seconds of budget left for all. */
  readonly secondsLeft: number;
  /** Workloads that are tuned, and those among them of which nothing more is to be found out. */
  readonly workloads: number;
  readonly decided: number;
}

/** The part of it that one search knows. */
export type SearchProgress = Omit<TuningProgress, 'secondsLeft' | 'workloads' | 'decided'>;

export interface SearchJob {
  readonly subject: Subject;
  readonly backend: Backend;
  readonly options: SpaceOptions;
  readonly strategy: StrategyFactory;
  readonly effort: Effort;
  /** What there is for it; more of it is worth another try where it cannot be decided. */
  readonly budgetSeconds: number;
  readonly onProgress?: (progress: SearchProgress) => void;
  /** Seconds on a clock that never goes back. */
  readonly clock: () => number;
  readonly createdBy: string;
  /** What won on another device of the class. */
  readonly alike?: TuningRecord;
}

/** Configurations that are compiled, to be timed when nothing compiles any more. */
export interface Attempt {
  /**
   * @param timeoutSeconds for all of them
   * @param preparedSeconds what it took of the budget to compile them
   */
  time(timeoutSeconds: number, preparedSeconds: number): Promise<void>;
}

/** How thoroughly it is decided which configuration is best. */
export interface FinalsCare {
  /** How many configurations are timed beside the default. */
  readonly finalists: number;
  /** Little depends on it: they are not timed as often. */
  readonly isBrief: boolean;
}

/** Finals that are compiled, to be timed when nothing compiles any more. */
export interface ReadyFinals {
  /**
   * Times the best beside the default until it is known which is best, and writes that down; null when nothing can be
   * decided, which is noted too. What comes back is the record by now, which may be an earlier search's.
   * @param isTimeLeft whether more may be timed than it takes at least
   * @param preparedSeconds what it took of the budget to compile them
   */
  decide(isTimeLeft: () => boolean, preparedSeconds: number): Promise<TuningResult | null>;
}
