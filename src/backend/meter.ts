// How a backend's devices run and time modules.
import type { Device } from './device.ts';

/** How a backend's devices run and time modules. Flags belong to the runtime's tools. */
export interface Meter {
  /** Whether the placement of operands in memory changes the speed: then each candidate is measured in several placements. */
  readonly hasPlacements: boolean;
  /**
   * Whether each candidate first runs in its own process, with a check of the result. On a GPU a kernel that hangs or writes outside its
   * memory breaks all other kernels of the process.
   */
  isVerifiedAlone(device: Device): boolean;
  /** Flags that fill all allocated memory with garbage, which shows unwritten parts of a result. */
  readonly fillingFlags: readonly string[];
  /** How the runtime times the dispatches of a program: it prints statistics on CPUs, and writes a profile on other devices. */
  readonly dispatchTimes: 'statistics' | 'profile';
  /**
   * Dispatches of a kernel in one call, so that the launch takes little of the time.
   * @param flops operations on numbers of one execution
   */
  repeats(device: Device, flops: number): number;
  /** Seconds from the start of a process to its first dispatch. */
  readonly startSeconds: number;
  /** Seconds of warm-up in each process. */
  readonly warmUpSeconds: number;
}
