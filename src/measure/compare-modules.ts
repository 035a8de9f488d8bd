// Two compiled programs against each other: the same function on the same inputs, timed in alternating processes.
import { deviceFlags, type Device } from '../target/device.ts';
import { readTimings } from './benchmark.ts';
import { median, ratioInterval, type Interval } from './statistics.ts';
import { runTool } from './toolchain.ts';

export interface ModuleRun {
  readonly benchmarkModule: string;
  readonly device: Device;
  readonly functionName: string;
  /** Values of `--input=`, such as `4x8xf32=@lhs.bin`. */
  readonly inputs: readonly string[];
}

/** Ratio of the first module's time over the second's: above 1 says that the second is faster. */
export interface ModuleComparison extends Interval {
  readonly seconds: readonly [first: number, second: number];
}

/** Median seconds of one call in one process of its own. */
export async function timeModule(run: ModuleRun, module: string, minSeconds: number): Promise<number> {
  const result = await runTool(
    run.benchmarkModule,
    [
      `--module=${module}`,
      `--function=${run.functionName}`,
      ...run.inputs.map((input) => `--input=${input}`),
      ...deviceFlags(run.device),
      '--benchmark_repetitions=3',
      `--benchmark_min_time=${minSeconds}s`,
      '--benchmark_format=json',
    ],
    600,
    new AbortController().signal,
  );
  const seconds = median([...readTimings(result.stdout).values()].flat());
  if (!result.ok || Number.isNaN(seconds))
    throw new Error(`${module} could not be timed: ${result.ending}\n${result.stderr.slice(-2000)}`);
  return seconds;
}

/** Times first, second, first again in each of `rounds` rounds, so that both sides see the same machine. */
export async function compareModules(
  run: ModuleRun,
  first: string,
  second: string,
  rounds: number,
  minSeconds = 0.05,
): Promise<ModuleComparison> {
  const times: [number, number, number][] = [];
  for (let round = 0; round < rounds; round++) {
    const a = await timeModule(run, first, minSeconds);
    const b = await timeModule(run, second, minSeconds);
    times.push([a, b, await timeModule(run, first, minSeconds)]);
  }
  return {
    ...ratioInterval(times.map(([a, b, again]) => Math.sqrt(a * again) / b)),
    seconds: [median(times.map(([a]) => a)), median(times.map(([, b]) => b))],
  };
}
