// Two compiled programs against each other: the same function on the same inputs, timed in alternating processes.
import { deviceFlags } from '../backend/index.ts';
import { type Device } from '../backend/device.ts';
import { readTimings } from './benchmark.ts';
import { readDispatchTimes, STATISTICS_FLAG, type DispatchTimes } from './dispatch-times.ts';
import { undisturbed, undisturbedRatio, type Interval } from './statistics.ts';
import { runTool } from './toolchain.ts';

export interface ModuleRun {
  readonly benchmarkModule: string;
  readonly device: Device;
  readonly functionName: string;
  /** Values of `--input=`, such as `4x8xf32=@lhs.bin`. */
  readonly inputs: readonly string[];
  /** Ends it; nothing does when left out. */
  readonly signal?: AbortSignal;
  /** More flags that the program takes to run, such as `--parameters=model=weights.irpa`. */
  readonly flags?: readonly string[];
}

/** Ratio of the first module's time over the second's: above 1 says that the second is faster. */
export interface ModuleComparison extends Interval {
  readonly seconds: readonly [first: number, second: number];
}

/** How thoroughly one process measures. */
export interface ProcessEffort {
  readonly repetitions: number;
  /** Least time spent in one repetition, in seconds. */
  readonly minSeconds: number;
  readonly timeoutSeconds: number;
}

/** Seconds of one call that nothing gets in the way of, in one process of its own. */
export async function timeModule(run: ModuleRun, module: string, effort: ProcessEffort): Promise<number> {
  return secondsIn(await benchmarkModule(run, module, effort, []), module);
}

/** What one process says of a function. */
export interface ModuleTimes {
  /** Of a call that nothing gets in the way of. */
  readonly seconds: number;
  /** What the dispatches of a call take, on average over all calls. */
  readonly dispatches: DispatchTimes;
}

/** The same with the statistics of dispatches, which cost a little time. @throws where the runtime has none */
export async function timeDispatches(
  run: ModuleRun,
  module: string,
  effort: ProcessEffort,
): Promise<ModuleTimes> {
  const stdout = await benchmarkModule(run, module, effort, [STATISTICS_FLAG]);
  return { seconds: secondsIn(stdout, module), dispatches: readDispatchTimes(stdout) };
}

function secondsIn(stdout: string, module: string): number {
  const seconds = undisturbed([...readTimings(stdout).values()].flat());
  if (Number.isNaN(seconds)) throw new Error(`${module} could not be timed: no timing was reported`);
  return seconds;
}

async function benchmarkModule(
  { benchmarkModule, functionName, inputs, flags: own = [], device, signal }: ModuleRun,
  module: string,
  { repetitions, minSeconds, timeoutSeconds }: ProcessEffort,
  flags: readonly string[],
): Promise<string> {
  const result = await runTool(
    benchmarkModule,
    [
      `--module=${module}`,
      `--function=${functionName}`,
      ...inputs.map((input) => `--input=${input}`),
      ...own,
      ...deviceFlags(device),
      `--benchmark_repetitions=${repetitions}`,
      `--benchmark_min_time=${minSeconds}s`,
      '--benchmark_format=json',
      ...flags,
    ],
    timeoutSeconds,
    signal ?? new AbortController().signal,
  );
  if (!result.ok)
    throw new Error(`${module} could not be timed: ${result.ending}\n${result.stderr.slice(-2000)}`);
  return result.stdout;
}

/** How many pairs of processes there may be, and how long all of them may take, in seconds. */
export interface Extent {
  readonly pairs: number;
  readonly seconds: number;
  /** How long those may take without which little is known; no longer than all when left out. */
  readonly leastSeconds?: number;
}

/** Fewer pairs than that say nothing: see `ratioInterval`. */
export const LEAST_PAIRS = 3;

/** So many say it within an interval half as wide. */
const TELLING_PAIRS = 5;

/**
 * Measures two modules in pairs of processes, of which now one comes first and now the other, so that both see the same
 * machine. Ends before a pair that would likely not end in time.
 * @param isClear whether the pairs so far say enough
 */
export async function inPairs<T>(
  first: string,
  second: string,
  { pairs, seconds, leastSeconds = seconds }: Extent,
  measure: (module: string) => Promise<T>,
  isClear: (measured: readonly (readonly [first: T, second: T])[]) => boolean = () => false,
): Promise<(readonly [first: T, second: T])[]> {
  const begun = performance.now();
  const measured: (readonly [T, T])[] = [];
  /** Seconds after one more pair, if it takes as long as the others. */
  const likely = () => ((performance.now() - begun) / 1000) * (1 + 1 / Math.max(1, measured.length));
  const most = () => (measured.length < TELLING_PAIRS ? Math.max(seconds, leastSeconds) : seconds);
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

/** What pairs of times, in seconds, say together. */
export const comparisonOf = (pairs: readonly (readonly [number, number])[]): ModuleComparison => ({
  ...undisturbedRatio(pairs),
  seconds: [undisturbed(pairs.map(([a]) => a)), undisturbed(pairs.map(([, b]) => b))],
});
