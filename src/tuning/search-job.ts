// Input of a search, and its progress.
import type { Backend, SpaceOptions } from '../backend/backend.ts';
import type { StrategyFactory } from '../search/strategy.ts';
import type { Subject, TuningRecord } from '../store/store.ts';

/** How far a search goes if the budget does not end it. */
export interface Effort {
  readonly trialsPerBatch: number;
  readonly maxTrials: number;
  /** Batches in a row without a gain that end the search. */
  readonly patience: number;
  /** Most finalists. */
  readonly finalists: number;
}

export const DEFAULT_EFFORT: Effort = { trialsPerBatch: 16, maxTrials: 160, patience: 4, finalists: 8 };

/** A single search has all the time. One walk along every knob takes more than four batches. */
export const EFFORT_ALONE: Effort = { ...DEFAULT_EFFORT, patience: 6 };

/** Progress of a search. Seconds are of one execution. */
export interface TuningProgress {
  readonly workload: string;
  /** Arithmetic operations of one execution; the geometric mean over the sizes of dynamic dimensions. */
  readonly flops: number;
  readonly stage: 'search' | 'finals';
  readonly trials: number;
  readonly defaultSeconds: number;
  readonly bestSeconds: number;
  /** Seconds that are left of the budget of all searches. */
  readonly secondsLeft: number;
  /** Number of workloads, and of those that are decided. */
  readonly workloads: number;
  readonly decided: number;
}

export interface SearchJob {
  readonly subject: Subject;
  readonly backend: Backend;
  readonly options: SpaceOptions;
  readonly strategy: StrategyFactory;
  readonly effort: Effort;
  /** Seconds for this search. If they do not suffice, more of them are worth another try. */
  readonly budgetSeconds: number;
  /** Receives the part of the progress that one search knows. */
  readonly onProgress?: (progress: Omit<TuningProgress, 'secondsLeft' | 'workloads' | 'decided'>) => void;
  /** Seconds on a monotonic clock. */
  readonly clock: () => number;
  /** The winner on another device of the class. */
  readonly alike?: TuningRecord;
}

/** Effort of the finals. */
export interface FinalsEffort {
  /** Most finalists beside the default. */
  readonly finalists: number;
  /** Whether little depends on the decision, so that fewer processes run. */
  readonly isBrief: boolean;
}
