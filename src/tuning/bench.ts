// What tuning needs of the world: timings. They are measured, or made up by tests.
import type { Configuration } from '../backend/configuration.ts';
import type { Placement } from '../measure/placement.ts';
import type { TrialOutcome } from '../store/store.ts';

/** What became of one configuration in a batch of a search. */
export type Screened =
  | {
      readonly outcome: 'measured';
      /** Seconds of one execution that nothing gets in the way of, at each size; over placements their geometric mean. */
      readonly seconds: readonly number[];
    }
  | {
      readonly outcome: 'compile-error' | 'run-error' | 'timeout';
      /** How it failed. */
      readonly message: string;
    }
  /** There was no time to compile it. */
  | { readonly outcome: 'untried' };

/** One process in which a batch was timed. Seconds are of one execution, at each size. */
export interface BatchProcess {
  readonly placement: Placement;
  /** Of the default; null where it was not in it. */
  readonly defaultSeconds: readonly number[] | null;
  /** Of each configuration; null where it was not timed. */
  readonly seconds: readonly (readonly number[] | null)[];
}

/** One batch of a search. Seconds of different batches say little of each other: a machine is not always as fast. */
export interface Batch {
  /** Of the default, at each size; null where it is too slow to be timed in every batch, or could not be timed in the first. */
  readonly defaultSeconds: readonly number[] | null;
  /** How often the default was timed in it. */
  readonly repetitions: number;
  /** What each of its processes says. */
  readonly processes: readonly BatchProcess[];
  /** Why the first batch has no time of the default; null where the machine is too busy to tell. */
  readonly problem: string | null;
  /** Of each configuration, in the same order. */
  readonly results: readonly Screened[];
}

/** A batch that is compiled. */
export interface ReadyBatch {
  /** @param timeoutSeconds for all of it */
  time(timeoutSeconds: number): Promise<Batch>;
}

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
  /** Those that differ on this machine. */
  readonly placements: readonly Placement[];
  /** Of each function in one process. */
  readonly repetitions: number;
  /** Processes that are spent whatever time is left, 3 at least, and those that are worth spending. */
  readonly leastProcesses: number;
  readonly mostProcesses: number;
  /** Times the default and these finalists in one process. */
  time(names: readonly string[], stratum: Stratum): Promise<TimedProcess>;
}

/** Times configurations of one workload. Everything is stopped by an exception where it has to be. */
export interface Bench {
  /**
   * Compiles configurations to be timed quickly, interleaved. The first batch times the default in any case, later ones
   * where it is quick. One batch of a workload is timed before the next is made ready.
   * @param timeoutSeconds to compile them
   * @param modules that may be compiled at once
   */
  prepareBatch(
    configurations: readonly Configuration[],
    timeoutSeconds: number,
    modules: number,
  ): Promise<ReadyBatch>;
  /**
   * Seconds that finals are likely to measure; compiling comes on top.
   * @param expected screened seconds of one run at every size
   * @param isBrief as in `prepareFinals`
   */
  finalsSeconds(expected: ExpectedSeconds, isBrief: boolean): number;
  /**
   * Compiles and verifies what is to be timed thoroughly; null when there is nothing to compare it with.
   * @param isBrief little depends on it: the default is not timed a second time, and no more processes are spent than tell much
   */
  prepareFinals(
    configurations: readonly Configuration[],
    expected: ExpectedSeconds,
    isBrief: boolean,
  ): Promise<Finals | null>;
  /** The program with a configuration after a phase of the compiler; null when it does not get there. */
  textAfter(configuration: Configuration, phase: string): Promise<Uint8Array | null>;
}

/** Of one run at every size. */
export interface ExpectedSeconds {
  readonly ofDefault: number;
  readonly ofFinalists: readonly number[];
}
