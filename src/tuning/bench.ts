// What tuning needs of the world: timings. They are measured, or made up by tests.
import type { Configuration } from '../backend/configuration.ts';
import type { Placement } from '../measure/benchmark.ts';
import type { TrialOutcome } from '../store/store.ts';

/** What a process has by luck, and a program otherwise: how operands lie in memory, and how the code does. */
export interface Stratum {
  readonly placement: Placement;
  /** Which of two builds of the same functions, in another order: 0 or 1. */
  readonly build: number;
}

/** A configuration that compiles and whose output is right. */
export interface Finalist {
  readonly name: string;
  readonly configuration: Configuration;
  /** Largest absolute difference of its output to the default's. */
  readonly maxError: number;
}

export interface FailedFinalist {
  readonly configuration: Configuration;
  readonly outcome: Exclude<TrialOutcome, 'measured'>;
  /** What differed from the default's output or from the truth, or how it ended. */
  readonly reason: string;
}

/** One process in which the default and some finalists were timed, interleaved. Seconds are of one execution, at each size. */
export interface TimedProcess {
  /** Null when it could not be timed: the process says nothing then. */
  readonly defaultSeconds: readonly number[] | null;
  /** Of the default a second time; null where it is too slow for that. */
  readonly againSeconds: readonly number[] | null;
  /** Of finalists, by name. */
  readonly seconds: ReadonlyMap<string, readonly number[]>;
  /** Finalists that crashed, failed or took too long, with how. The others were timed each alone in that case. */
  readonly failed: ReadonlyMap<string, string>;
}

/** Finals that are ready to be timed. */
export interface Finals {
  readonly finalists: readonly Finalist[];
  readonly failed: readonly FailedFinalist[];
  /** Of each function in one process. */
  readonly repetitions: number;
  /** Processes that are worth spending. */
  readonly mostProcesses: number;
  /** Times the default and these finalists in one process. */
  time(names: readonly string[], stratum: Stratum): Promise<TimedProcess>;
}
