// Compares the speed of two compiled programs: the same function on the same inputs, timed in alternating processes.
import type { Device } from '../backend/device.ts';
import type { DispatchTimes, Profile } from '../backend/meter.ts';
import { readTimings, runBenchmark, type ProcessEffort } from './benchmark.ts';
import { withDispatchTimes } from './dispatch-times.ts';
import { undisturbed, undisturbedRatio, type Interval } from './statistics.ts';

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
 * @throws when the module cannot be timed
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
 * @throws what `measure` throws
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
