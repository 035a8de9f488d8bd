// Times a function of compiled programs and its dispatches, and compares two programs in alternating processes.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { driverOf, type Device } from '../backend/device.ts';
import { meterOf } from '../backend/index.ts';
import type { DispatchTime, DispatchTimes, Profile } from '../backend/meter.ts';
import { readEntries, readTimings, runBenchmark, type ProcessEffort } from './benchmark.ts';
import { undisturbed, undisturbedRatio, type Interval } from './statistics.ts';
import { runTool, type Toolchain, type ToolResult } from './toolchain.ts';

/** The call of a function. */
export interface ModuleRun {
  /** Path of `iree-benchmark-module`. */
  readonly tools: { readonly benchmarkModule: string };
  readonly device: Device;
  readonly function: { readonly name: string };
  /** Values of `--input=`, such as `4x8xf32=@lhs.bin`. */
  readonly inputs: readonly string[];
  /** More flags of the runtime's tools, such as `--parameters=model=weights.irpa`. */
  readonly flags?: readonly string[];
  /** Stops the run. */
  readonly signal?: AbortSignal;
}

/** The first module's time over the second's. Above 1, the second module is faster. */
export interface ModuleComparison extends Interval {
  readonly seconds: readonly [first: number, second: number];
}

/** Times of a function in one process. */
export interface ModuleTimes {
  /** Undisturbed seconds of one call. */
  readonly seconds: number;
  /** Averages over all calls; empty if the runtime or the driver does not time dispatches. */
  readonly dispatches: DispatchTimes;
}

/**
 * Times one call of a function, in a process of its own.
 * @param withDispatches whether the dispatches are timed too, or by which profile. That slows the call down a little
 * @throws StoppedError when the signal fires
 */
export async function timeModule(
  { tools, function: { name }, inputs, flags = [], device, signal }: ModuleRun,
  module: string,
  effort: ProcessEffort,
  withDispatches: boolean | Profile = false,
): Promise<ModuleTimes> {
  const run = { ...tools, device, signal: signal ?? new AbortController().signal };
  const all = [`--function=${name}`, ...inputs.map((input) => `--input=${input}`), ...flags];
  const benchmark = (more: readonly string[]) => runBenchmark(run, [module], effort, [...all, ...more]);
  const profile = typeof withDispatches === 'boolean' ? undefined : withDispatches;
  const timed = withDispatches === false ? null : await withDispatchTimes(run, module, benchmark, profile);
  const { ok, stdout, stderr, ending } = timed?.result ?? (await benchmark([]));
  const seconds = undisturbed([...readTimings(stdout).values()].flat());
  if (!ok || Number.isNaN(seconds))
    throw new Error(
      `${module} could not be timed: ${ok ? 'no timing was reported' : `${ending}\n${stderr.slice(-2000)}`}`,
    );
  return { seconds, dispatches: timed?.dispatches ?? new Map() };
}

/** Limit for reading a profile. */
const READING_SECONDS = 30;

/** Tools and drivers that do not time dispatches: each fails once in this process. */
const unable = new Set<string>();

/**
 * A run of `iree-benchmark-module` that times the dispatches, too.
 * @param module a profile is written beside it
 * @param asked another profile than that of the device
 * @returns null for a runtime or a driver that does not time dispatches. Versions before 3.13 reject the flags
 * @throws StoppedError when the signal fires
 */
async function withDispatchTimes(
  { benchmarkModule, device, signal }: Pick<Toolchain, 'benchmarkModule' | 'device' | 'signal'>,
  module: string,
  run: (flags: readonly string[]) => Promise<ToolResult>,
  asked?: Profile,
): Promise<{ readonly result: ToolResult; readonly dispatches: DispatchTimes } | null> {
  const profile = asked ?? meterOf(device).profile;
  const own = [driverOf(device.driver), benchmarkModule, ...(profile?.flags('') ?? [])].join(' ');
  if (unable.has(own)) return null;
  const path = `${module}.profile`;
  try {
    const result = await run(profile?.flags(path) ?? ['--dispatch_statistics=true']);
    if (!result.ok) {
      if (!/dispatch_statistics|device_profiling|profiling data/.test(result.stderr))
        return { result, dispatches: new Map() };
      unable.add(own);
      return null;
    }
    if (profile === undefined) return { result, dispatches: readDispatchTimes(result.stdout) };
    const reader = join(dirname(benchmarkModule), 'iree-profile');
    const { stdout } = await runTool(reader, profile.reader(path), READING_SECONDS, signal);
    return { result, dispatches: profile.read(stdout) };
  } finally {
    rmSync(path, { force: true });
  }
}

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

/** Limits of a series of pairs. */
export interface Extent {
  /** Most pairs of processes. */
  readonly pairs: number;
  /** Seconds for all pairs together. */
  readonly seconds: number;
  /** Seconds for the first five pairs, where that is more than `seconds`. */
  readonly leastSeconds?: number;
}

/** Fewer pairs give no useful interval: see `ratioInterval`. */
export const LEAST_PAIRS = 3;

/** Five pairs give an interval half as wide as three. */
const NARROW_PAIRS = 5;

/**
 * Measures two modules in pairs of processes. The order alternates from pair to pair, so that both modules see the same machine. Stops
 * before a pair that would likely exceed the time.
 * @param isClear whether the pairs so far are enough
 */
export async function inPairs<M, T>(
  first: M,
  second: M,
  { pairs, seconds, leastSeconds = seconds }: Extent,
  measure: (module: M) => Promise<T>,
  isClear: (measured: readonly (readonly [first: T, second: T])[]) => boolean = () => false,
): Promise<(readonly [first: T, second: T])[]> {
  const begun = performance.now();
  const measured: (readonly [T, T])[] = [];
  /** Expected seconds after one more pair. */
  const likely = () => ((performance.now() - begun) / 1000) * (1 + 1 / Math.max(1, measured.length));
  const most = () => (measured.length < NARROW_PAIRS ? Math.max(seconds, leastSeconds) : seconds);
  while (measured.length < pairs && likely() <= most()) {
    if (isClear(measured)) break;
    if (measured.length % 2 === 0) measured.push([await measure(first), await measure(second)]);
    else {
      const b = await measure(second);
      measured.push([await measure(first), b]);
    }
  }
  return measured;
}

/** @param pairs of times, in seconds */
export const comparisonOf = (pairs: readonly (readonly [number, number])[]): ModuleComparison => ({
  ...undisturbedRatio(pairs),
  seconds: [undisturbed(pairs.map(([a]) => a)), undisturbed(pairs.map(([, b]) => b))],
});
