// What tuning needs of the world: timings. They are measured, or made up by tests.
import type { Configuration } from '../backend/configuration.ts';
import type { Placement } from '../measure/placement.ts';
import type { TrialOutcome } from '../store/store.ts';

/** Conditions that a process has by luck, and a program has otherwise: how operands lie in memory, and how the code does. */
export interface Stratum {
  readonly placement: Placement;
  /** Which of two builds of the same functions, in another order: 0 or 1. */
  readonly build: number;
}

/** A configuration that compiles, and can be timed. */
export interface Contestant {
  readonly name: string;
  readonly configuration: Configuration;
  /** Largest absolute difference of its output to the default's; 0 where that was not compared. */
  readonly maxError: number;
}

/** A configuration that is out. */
export interface Failure {
  readonly configuration: Configuration;
  readonly outcome: Exclude<TrialOutcome, 'measured'>;
  /** The compiler's message, the difference to the default's output or to the truth, or the end of the process. */
  readonly reason: string;
}

/** One process in which the default and some contestants were timed, interleaved. Seconds are of one execution, at each size. */
export interface TimedProcess extends Stratum {
  /** Null where the default was not in it, or could not be timed: then the process says nothing of gains. */
  readonly defaultSeconds: readonly number[] | null;
  /** Of contestants, by name. */
  readonly seconds: ReadonlyMap<string, readonly number[]>;
  /** Contestants that crashed, failed or took too long, with how. The others were timed each alone in that case. */
  readonly failed: ReadonlyMap<string, string>;
  /** Of each contestant. */
  readonly repetitions: number;
}

/** Contestants that are compiled and ready to be timed beside the default. */
export interface Field {
  readonly contestants: readonly Contestant[];
  /** Configurations that do not compile, or whose output is wrong. */
  readonly failed: readonly Failure[];
  /** Whether the default is timed in every process. */
  readonly hasDefault: boolean;
  /** Conditions of the processes, in turn. */
  readonly strata: readonly Stratum[];
  /** Processes that are spent whatever time is left, and those that are worth spending. */
  readonly leastProcesses: number;
  readonly mostProcesses: number;
  /** Times the default and these contestants. Contestants of several modules take a process for each module. */
  time(names: readonly string[], stratum: Stratum): Promise<readonly TimedProcess[]>;
}

/** One batch of a search. Seconds of different batches say little of each other: a machine is not always as fast. */
export interface Batch {
  readonly contestants: readonly Contestant[];
  readonly processes: readonly TimedProcess[];
  /** Configurations that are neither here nor timed in a process were left out for want of time. */
  readonly failed: readonly Failure[];
  /** Why the default cannot be timed; null where it can, or where the machine is too busy to tell. */
  readonly problem: string | null;
}

/** A batch that is compiled. */
export interface ReadyBatch {
  /** @param timeoutSeconds for all of it */
  time(timeoutSeconds: number): Promise<Batch>;
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
   * Compiles and verifies contestants that are to be timed thoroughly; null when there is nothing to compare them with.
   * @param isBrief little depends on it: no more processes are spent than tell much
   */
  prepareFinals(
    configurations: readonly Configuration[],
    expected: ExpectedSeconds,
    isBrief: boolean,
  ): Promise<Field | null>;
  /** The program with a configuration after a phase of the compiler; null when it does not get there. */
  textAfter(configuration: Configuration, phase: string): Promise<Uint8Array | null>;
}

/** Of one run at every size. */
export interface ExpectedSeconds {
  readonly ofDefault: number;
  readonly ofFinalists: readonly number[];
}
