// How a backend's devices run and time modules.
import type { Device } from './device.ts';

/** Times of one dispatch in one process. */
export interface DispatchTime {
  /** All calls of the dispatch in one call of the function together, on average. */
  readonly seconds: number;
  /** Calls of the dispatch in one call of the function. */
  readonly calls: number;
}

/** By the name of the dispatch, such as `main_dispatch_1_matmul_like_196x512x256_f32`. */
export type DispatchTimes = ReadonlyMap<string, DispatchTime>;

/**
 * Times in one call of a function, from the sums over all of its calls in a process. A profile does not tell how often the function was
 * called: a dispatch is called as often in each call of it.
 */
export function timesPerCall(
  sums: readonly (readonly [name: string, { readonly count: number; readonly seconds: number }])[],
): DispatchTimes {
  const calls = sums.reduce((divisor, [, { count }]) => commonDivisor(divisor, count), 0);
  return new Map(
    sums.map(([name, { count, seconds }]) => [name, { seconds: seconds / calls, calls: count / calls }]),
  );
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b));

/** How the device times the dispatches of a program. */
export interface Profile {
  /** Flags of `iree-benchmark-module`. @param path of the profile */
  flags(path: string): readonly string[];
  reader(path: string): readonly string[];
  /** Reads the output of `iree-profile`. */
  read(stdout: string): DispatchTimes;
}

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
  /** Absent on CPUs, where the runtime prints the times of dispatches. */
  readonly profile?: Profile;
  /**
   * Dispatches of a kernel in one call, so that the launch takes little of the time.
   * @param flops operations on numbers of one execution
   */
  repeats(device: Device, flops: number): number;
  /** Whether dispatches of one call run one after the other, even if they are independent. */
  readonly isInOrder: boolean;
  /** Seconds from the start of a process to its first dispatch. */
  readonly startSeconds: number;
  /** Seconds of warm-up in each process. */
  readonly warmUpSeconds: number;
}
