// The runtime's statistics of dispatches: what of a function's time is spent in which of its dispatches. Pure.
import { readEntries } from './benchmark.ts';

/** One dispatch in one process. */
export interface DispatchTime {
  /** Of all its calls in one call of the function, on average. */
  readonly seconds: number;
  /** In one call of the function. */
  readonly calls: number;
}

/** By name, such as `main_dispatch_1_matmul_like_196x512x256_f32`. */
export type DispatchTimes = ReadonlyMap<string, DispatchTime>;

/** Has `iree-benchmark-module` add a row for each dispatch (3.13); older ones do not know it, and fail. */
export const STATISTICS_FLAG = '--dispatch_statistics=true';

/**
 * Reads the rows `BM_<function>/<dispatch>` of `iree-benchmark-module`'s JSON, which stand below those of the function. Empty
 * where the runtime has no such statistics.
 */
export function readDispatchTimes(stdout: string): DispatchTimes {
  const times = new Map<string, DispatchTime>();
  for (const { name, seconds, entry } of readEntries(stdout)) {
    const dispatch = /^BM_[^/]+\/(.+)$/.exec(name)?.[1];
    const { calls } = entry;
    if (dispatch === undefined || typeof calls !== 'number' || !(calls > 0) || !(seconds > 0)) continue;
    times.set(dispatch, { seconds, calls });
  }
  return times;
}
