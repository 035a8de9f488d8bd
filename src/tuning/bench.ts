// The interface between tuning and timings. Timings are measured, or simulated in tests.
import type { Configuration } from '../backend/configuration.ts';
import type { Timings } from '../measure/benchmark.ts';
import type { Placement } from '../measure/placement.ts';
import type { TrialOutcome } from '../store/store.ts';
import type { Rated } from './worth.ts';

/** Conditions that differ by chance between processes: placement of operands and code layout. */
export interface Stratum {
  readonly placement: Placement;
  /** Index of the build, 0 or 1. The second build has the functions in reverse order. */
  readonly build: number;
}

/** A configuration that compiles. */
export interface Contestant {
  readonly name: string;
  readonly configuration: Configuration;
  /** Largest absolute difference between its output and the default's; 0 if they were not compared. */
  readonly maxError: number;
}

/** A configuration that is out of the race. */
export interface Failure {
  readonly configuration: Configuration;
  readonly outcome: Exclude<TrialOutcome, 'measured'>;
  /** The compiler's message, the difference of the results, or the ending of the process. */
  readonly reason: string;
}

/**
 * One process that timed the default and some contestants, interleaved. Seconds are of one execution, at each size. After a failure each of
 * the other contestants was timed alone.
 */
export interface TimedProcess extends Stratum, Timings {
  /** Null if the process did not time the default; its contestants have no gains then. */
  readonly defaultSeconds: readonly number[] | null;
  /** Repetitions of each contestant. */
  readonly repetitions: number;
}

/** Compiled contestants that are ready to be timed beside the default. */
export interface Field {
  readonly contestants: readonly Contestant[];
  /** Configurations that do not compile, or have a wrong output. */
  readonly failed: readonly Failure[];
  /** Whether every process times the default. */
  readonly hasDefault: boolean;
  /** Strata of the processes, in turn. */
  readonly strata: readonly Stratum[];
  /** Processes that run even after the time is up, and the most that run. */
  readonly leastProcesses: number;
  readonly mostProcesses: number;
  /** Times the default and these contestants, in one process for each module. */
  time(names: readonly string[], stratum: Stratum): Promise<readonly TimedProcess[]>;
}

/** One batch of a search. Seconds of different batches are not comparable, because the speed of a machine varies. */
export interface Batch {
  readonly contestants: readonly Contestant[];
  readonly processes: readonly TimedProcess[];
  /** Failures. A configuration that is neither here nor in a process was left out for lack of time. */
  readonly failed: readonly Failure[];
  /** Why the default cannot be timed; null if it can, or if the machine is too busy to tell. */
  readonly problem: string | null;
}

/** A compiled batch. */
export interface ReadyBatch {
  /** @param timeoutSeconds for the whole batch */
  time(timeoutSeconds: number): Promise<Batch>;
}

/** Times configurations of one workload. Methods reject with StoppedError after a stop. */
export interface Bench {
  /**
   * Compiles configurations for interleaved timing. The first batch always times the default, later batches only a quick one. A batch of a
   * workload is timed before the next one is prepared.
   * @param timeoutSeconds of the compile
   * @param modules that may be compiled at once
   */
  prepareBatch(
    configurations: readonly Configuration[],
    timeoutSeconds: number,
    modules: number,
  ): Promise<ReadyBatch>;
  /** Expected seconds of measuring the finals, without compiling. */
  finalsSeconds(entry: Entry): number;
  /** Compiles and verifies contestants for the finals; null if the default is not available. */
  prepareFinals(entry: Entry): Promise<Field | null>;
  /** The program with a configuration after a phase of the compiler; null if the compiler fails before. */
  textAfter(configuration: Configuration, phase: string): Promise<Uint8Array | null>;
}

/** Finalists with their screened ratios. */
export interface Entry {
  readonly finalists: readonly Rated[];
  /** Screened seconds of one run of the default at every size. */
  readonly defaultSeconds: number;
  /** Whether little depends on the decision, so that fewer processes run. */
  readonly isBrief: boolean;
}
