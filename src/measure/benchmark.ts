// Times functions and candidates of one module, interleaved in one process.
import { deviceFlags, meterOf } from '../backend/index.ts';
import { resultOr } from '../system/result-or.ts';
import { workloadFlops, type OperationWork } from '../workload/workload.ts';
import { functionNames } from './candidate-module.ts';
import { loadedWith } from './common-modules.ts';
import { environmentOf, type Placement } from './placement.ts';
import { undisturbed } from './statistics.ts';
import { countdown, runTool, type Toolchain, type ToolResult } from './toolchain.ts';

/** Effort of one process. */
export interface ProcessEffort {
  readonly repetitions: number;
  /** Least time spent in one repetition, in seconds. */
  readonly minSeconds: number;
  readonly timeoutSeconds: number;
  /** Limit of all processes together, if a failure makes more than one necessary; none if left out. */
  readonly limitSeconds?: number;
  /** Of operands; `apart` if left out. */
  readonly placement?: Placement;
}

/** Least time limit of a process with one function, because loading a module is slow on a busy machine. */
const LEAST_SECONDS = 2;

/** Times of functions or of candidates, by name. */
export interface Timings {
  /** Seconds of one execution. */
  readonly seconds: ReadonlyMap<string, readonly number[]>;
  /** A message for each name that crashed, failed or timed out. */
  readonly failed: ReadonlyMap<string, string>;
}

/**
 * Times the functions `names`, with repetitions interleaved at random. After a crash or a time-out the culprit is unknown, so each
 * function is timed again in its own process.
 * @param modules in loading order; the last module has the functions
 * @param options.timeoutSeconds of the first process
 * @returns for each function one value per repetition. Functions for which no time was left are neither timed nor failed
 * @throws StoppedError when the toolchain's signal fires
 */
export async function benchmark(
  toolchain: Toolchain,
  modules: readonly string[],
  names: readonly string[],
  options: ProcessEffort,
): Promise<Timings> {
  const runOnce = (some: readonly string[], timeoutSeconds: number) => {
    const { warmUpSeconds } = meterOf(toolchain.device);
    const flags = [
      '--benchmark_enable_random_interleaving=true',
      ...(warmUpSeconds > 0 ? [`--benchmark_min_warmup_time=${warmUpSeconds}`] : []),
      `--benchmark_filter=BM_(${some.join('|')})/`,
    ];
    return runBenchmark(toolchain, modules, { ...options, timeoutSeconds }, flags);
  };
  const { timeoutSeconds, limitSeconds = Infinity } = options;
  const secondsLeft = countdown(limitSeconds);
  const all = await runOnce(names, timeoutSeconds);
  const seconds = readTimings(all.stdout);
  if (all.ok && names.every((name) => seconds.has(name))) return { seconds, failed: new Map() };
  if (names.length === 1) return { seconds: new Map(), failed: new Map([[names[0]!, endingOf(all)]]) };
  const failed = new Map<string, string>();
  const alone = new Map<string, readonly number[]>();
  const secondsOfOne = Math.max(LEAST_SECONDS, timeoutSeconds / names.length);
  for (const name of names) {
    const left = secondsLeft();
    if (left <= 0) break;
    const result = await runOnce([name], Math.min(secondsOfOne, left));
    const own = readTimings(result.stdout).get(name);
    if (result.ok && own !== undefined) alone.set(name, own);
    else if (!result.timedOut || left >= secondsOfOne) failed.set(name, endingOf(result));
  }
  return { seconds: alone, failed };
}

const endingOf = (result: ToolResult) => (result.ok ? 'no timing was reported' : result.ending);

/**
 * Times candidates of a module, interleaved, at every combination of sizes of their workload.
 * @returns undisturbed times, one for each combination of sizes
 * @throws StoppedError when the toolchain's signal fires
 */
export async function timeCandidates(
  toolchain: Toolchain,
  workload: OperationWork,
  module: string,
  candidates: readonly string[],
  options: ProcessEffort,
): Promise<Timings> {
  const seconds = new Map<string, readonly number[]>();
  const modules = await loadedWith(toolchain, workload, module);
  const reason = 'the operands cannot be filled';
  if (modules === null) return { seconds, failed: new Map(candidates.map((name) => [name, reason])) };
  const all = candidates.flatMap((name) => functionNames(workload, name));
  const timings = await benchmark(toolchain, modules, all, options);
  const repeats = meterOf(toolchain.device).repeats(toolchain.device, workloadFlops(workload));
  const failed = new Map<string, string>();
  for (const name of candidates) {
    const functions = functionNames(workload, name);
    const failure = functions.map((one) => timings.failed.get(one)).find((reason) => reason !== undefined);
    const own = functions.map((one) => undisturbed(timings.seconds.get(one) ?? []) / repeats);
    if (failure !== undefined) failed.set(name, failure);
    else if (own.every(Number.isFinite)) seconds.set(name, own);
  }
  return { seconds, failed };
}

/**
 * Runs `iree-benchmark-module`, which prints JSON.
 * @param modules in loading order
 * @throws StoppedError when the signal fires
 */
export const runBenchmark = (
  { benchmarkModule, device, signal }: Pick<Toolchain, 'benchmarkModule' | 'device' | 'signal'>,
  modules: readonly string[],
  { repetitions, minSeconds, timeoutSeconds, placement }: ProcessEffort,
  flags: readonly string[],
): Promise<ToolResult> =>
  runTool(
    benchmarkModule,
    [
      ...modules.map((module) => `--module=${module}`),
      ...deviceFlags(device),
      `--benchmark_repetitions=${repetitions}`,
      `--benchmark_min_time=${minSeconds}s`,
      '--benchmark_format=json',
      ...flags,
    ],
    timeoutSeconds,
    signal,
    { env: environmentOf(placement) },
  );

/** Google Benchmark's units of time. */
const SECONDS_PER_UNIT: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1 };

/** One run in Google Benchmark's JSON. The JSON is not validated, so any field may be missing. */
type BenchmarkEntry = Readonly<Record<string, unknown>>;

/** Reads the runs that did not fail, with their seconds; empty without JSON. Other lines may precede the JSON. */
export function readEntries(stdout: string): { name: string; seconds: number; entry: BenchmarkEntry }[] {
  const start = stdout.indexOf('{');
  if (start < 0) return [];
  const parsed = () => JSON.parse(stdout.slice(start)) as { benchmarks?: readonly BenchmarkEntry[] };
  const entries = resultOr(parsed, null)?.benchmarks ?? [];
  return entries.flatMap((entry) => {
    const { name, run_type, real_time, time_unit, error_occurred } = entry;
    const unit = SECONDS_PER_UNIT[String(time_unit)];
    if (run_type !== 'iteration' || error_occurred === true) return [];
    if (typeof name !== 'string' || unit === undefined || typeof real_time !== 'number') return [];
    return [{ name, seconds: real_time * unit, entry }];
  });
}

/** Seconds of one execution for each function, one value per repetition. */
export function readTimings(stdout: string): Map<string, number[]> {
  const timings = new Map<string, number[]>();
  for (const { name, seconds, entry } of readEntries(stdout)) {
    const label = /^BM_([^/]+)/.exec(name)?.[1];
    // Only rows of dispatches have calls.
    if (label === undefined || entry['calls'] !== undefined) continue;
    const values = timings.get(label) ?? [];
    values.push(seconds);
    timings.set(label, values);
  }
  return timings;
}
