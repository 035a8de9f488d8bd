// The time of each dispatch within a function: by the runtime's statistics on a CPU, by the device's profile on a GPU.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { meterOf } from '../backend/index.ts';
import { isObject } from '../system/data.ts';
import { resultOr } from '../system/result-or.ts';
import { readEntries } from './benchmark.ts';
import type { ModuleRun } from './compare-modules.ts';
import { runTool } from './toolchain.ts';

/** Times of one dispatch in one process. */
export interface DispatchTime {
  /** All calls of the dispatch in one call of the function together, on average. */
  readonly seconds: number;
  /** Calls of the dispatch in one call of the function. */
  readonly calls: number;
}

/** By the name of the dispatch, such as `main_dispatch_1_matmul_like_196x512x256_f32`. */
export type DispatchTimes = ReadonlyMap<string, DispatchTime>;

/** How one run of `iree-benchmark-module` times its dispatches. */
export interface DispatchTiming {
  readonly flags: readonly string[];
  /** The times after the run. @throws StoppedError when the signal fires */
  read(stdout: string): Promise<DispatchTimes>;
  /** Removes the run's files. */
  end(): void;
}

/** Whether a failed run complains of a runtime or a driver that does not time dispatches. Versions before 3.13 reject the flags. */
export const lacksDispatchTimes = (stderr: string): boolean =>
  /dispatch_statistics|device_profiling|profiling data/.test(stderr);

/** @param module the profile is written beside it */
export function dispatchTiming(
  { tools, device, signal = new AbortController().signal }: ModuleRun,
  module: string,
): DispatchTiming {
  if (meterOf(device).dispatchTimes === 'statistics')
    return {
      flags: ['--dispatch_statistics=true'],
      read: (stdout) => Promise.resolve(readDispatchTimes(stdout)),
      end: () => undefined,
    };
  const path = `${module}.profile`;
  const reader = join(dirname(tools.benchmarkModule), 'iree-profile');
  return {
    flags: ['--device_profiling_mode=dispatch-events', `--device_profiling_output=${path}`],
    async read() {
      const argv = ['dispatch', '--format=jsonl', path];
      return readProfile((await runTool(reader, argv, READING_SECONDS, signal)).stdout);
    },
    end() {
      rmSync(path, { force: true });
    },
  };
}

/** Limit for reading a profile. */
const READING_SECONDS = 30;

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

/**
 * Reads the groups of `iree-profile dispatch --format=jsonl`: all calls of a dispatch in a process.
 * @returns an empty map for a profile without times
 */
export function readProfile(jsonl: string): DispatchTimes {
  const groups = jsonl.split('\n').flatMap((line) => {
    const group: unknown = resultOr(() => JSON.parse(line) as unknown, null);
    if (!isObject(group) || group['type'] !== 'dispatch_group') return [];
    const { key, valid, avg_ns: nanoseconds } = group;
    return typeof key === 'string' && Number(valid) > 0 && Number(nanoseconds) > 0
      ? [{ key, count: Number(valid), seconds: Number(nanoseconds) / 1e9 }]
      : [];
  });
  // The profile does not tell how often the function was called. A dispatch is called as often in each call of it.
  const functionCalls = groups.reduce((divisor, { count }) => commonDivisor(divisor, count), 0);
  return new Map(
    groups.map(({ key, count, seconds }) => {
      const calls = count / functionCalls;
      return [key, { seconds: calls * seconds, calls }];
    }),
  );
}

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b));
