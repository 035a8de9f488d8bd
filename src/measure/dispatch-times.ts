// The runtime's statistics of dispatches: the time of each dispatch within a function. Pure.
import { readEntries } from './benchmark.ts';

/** Times of one dispatch in one process. */
export interface DispatchTime {
  /** All calls of the dispatch in one call of the function together, on average. */
  readonly seconds: number;
  /** Calls of the dispatch in one call of the function. */
  readonly calls: number;
}

/** By the name of the dispatch, such as `main_dispatch_1_matmul_like_196x512x256_f32`. */
export type DispatchTimes = ReadonlyMap<string, DispatchTime>;

/** Makes `iree-benchmark-module` add a row for each dispatch. Versions before 3.13 reject the flag. */
export const STATISTICS_FLAG = '--dispatch_statistics=true';

/**
 * Reads the rows `BM_<function>/<dispatch>` of `iree-benchmark-module`'s JSON.
 * @returns an empty map where the runtime has no such statistics
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
