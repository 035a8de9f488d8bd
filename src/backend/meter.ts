// How modules are run and timed on the devices of a backend.
import type { Device } from './device.ts';

/** How modules are run and timed on the devices of a backend. Flags are those of the runtime's tools. */
export interface Meter {
  /** Whether operands may lie in memory in ways that differ in speed: then each is measured in all of them. */
  readonly hasPlacements: boolean;
  /**
   * Whether each candidate is run in a process of its own, and its result compared, before it is timed beside others. On a
   * GPU one kernel that hangs or writes outside its memory takes all others of its process with it.
   */
  readonly isVerifiedAlone: boolean;
  /** Flags that fill all memory a program gets with garbage, so that unwritten parts of a result show. */
  readonly fillingFlags: readonly string[];
  /**
   * Dispatches that one call makes of a kernel, so that the time of a call is not that of its launch.
   * @param flops operations on numbers of one execution
   */
  repeats(device: Device, flops: number): number;
  /** What a process takes before it runs anything, in seconds. */
  readonly startSeconds: number;
  /** Seconds of running that come before anything is timed, in each process. */
  readonly warmUpSeconds: number;
}
