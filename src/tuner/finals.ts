// Finals: the few best configurations against the default, verified, and measured in several processes.
import { setTimeout as sleep } from 'node:timers/promises';
import { loweringAttribute } from '../inject/attribute.ts';
import { benchmark } from '../measure/benchmark.ts';
import { buildCandidates } from '../measure/build.ts';
import { median, noiseFloor, ratioInterval, type Interval } from '../measure/statistics.ts';
import type { Toolchain } from '../measure/toolchain.ts';
import { compareOutputs, runFunction, storedElementType } from '../measure/verify.ts';
import type { Configuration } from '../space/configuration.ts';
import type { Workload } from '../workload/workload.ts';
import { DEFAULT_NAME } from './screen.ts';

/** The default a second time: its ratio to itself is the noise floor. */
const AGAIN_NAME = 'again';

export interface Finalist extends Interval {
  readonly configuration: Configuration;
  readonly seconds: number;
  readonly maxError: number;
}

export interface Finals {
  /** Verified finalists, best lower bound first. */
  readonly finalists: readonly Finalist[];
  /** Configurations whose output differed from the default's, with what differed. */
  readonly wrong: readonly { readonly configuration: Configuration; readonly reason: string }[];
  readonly defaultSeconds: number;
  readonly noiseFloor: number;
  readonly processes: number;
  readonly repetitions: number;
}

/** How thoroughly to measure: slow programs get fewer repetitions, for their spread is smaller too. */
function effort(secondsOfAll: number): { processes: number; repetitions: number; minSeconds: number } {
  if (secondsOfAll > 0.4) return { processes: 3, repetitions: 2, minSeconds: 0.01 };
  if (secondsOfAll > 0.08) return { processes: 5, repetitions: 3, minSeconds: 0.01 };
  return { processes: 7, repetitions: 5, minSeconds: 0.01 };
}

/**
 * Compiles default and finalists into one module, compares each output with the default's on random operands and
 * times all of them in several processes, each of them interleaved.
 * @param expected screened seconds of the default and of the finalists, from which repetitions are chosen
 */
export async function runFinals(
  toolchain: Toolchain,
  workload: Workload,
  configurations: readonly Configuration[],
  expected: { readonly defaultSeconds: number; readonly seconds: readonly number[] },
): Promise<Finals | null> {
  const stock = { name: DEFAULT_NAME, attribute: null };
  const candidates = configurations.map((configuration, i) => ({
    name: `f${i}`,
    attribute: loweringAttribute(configuration, workload, toolchain.release),
  }));
  const build = await buildCandidates(
    toolchain,
    workload,
    [stock, { ...stock, name: AGAIN_NAME }, ...candidates],
    'finals',
  );
  const builtNames = new Set(build.built.map(({ name }) => name));
  if (build.module === null || !builtNames.has(DEFAULT_NAME) || !builtNames.has(AGAIN_NAME)) return null;
  const module = build.module;

  const secondsOfAll = 2 * expected.defaultSeconds + expected.seconds.reduce((sum, s) => sum + s, 0);
  const timeoutSeconds = 30 + 100 * secondsOfAll;
  const reference = await runFunction(toolchain, module, DEFAULT_NAME, timeoutSeconds);
  if (reference === null) return null;
  const { accumulator, dimensions } = workload;
  const count = accumulator.dimensions.reduce((product, d) => product * dimensions[d]!.size, 1);
  const elementType = storedElementType(reference, count, accumulator.elementType);
  const wrong: { configuration: Configuration; reason: string }[] = [];
  const verified: { configuration: Configuration; name: string; maxError: number }[] = [];
  for (const [i, configuration] of configurations.entries()) {
    const name = `f${i}`;
    if (!builtNames.has(name)) continue;
    const output = await runFunction(toolchain, module, name, timeoutSeconds);
    const comparison =
      output === null
        ? { equal: false, maxError: Infinity, reason: 'the program failed' }
        : compareOutputs(reference, output, elementType);
    if (comparison.equal) verified.push({ configuration, name, maxError: comparison.maxError });
    else wrong.push({ configuration, reason: comparison.reason ?? 'outputs differ' });
  }

  const { processes, repetitions, minSeconds } = effort(secondsOfAll);
  const names = [DEFAULT_NAME, AGAIN_NAME, ...verified.map(({ name }) => name)];
  const medians = new Map<string, number[]>(names.map((name) => [name, []]));
  await sleep(50);
  for (let process = 0; process < processes; process++) {
    const options = { repetitions, minSeconds, timeoutSeconds, only: names };
    const { seconds } = await benchmark(toolchain, module, names, options);
    // A process in which anything failed pairs nothing with nothing.
    if (!names.every((name) => seconds.has(name))) continue;
    for (const name of names) medians.get(name)!.push(median(seconds.get(name)!));
  }
  const stockMedians = medians.get(DEFAULT_NAME)!;
  if (stockMedians.length < 2) return null;
  const ratios = (name: string) => medians.get(name)!.map((seconds, i) => stockMedians[i]! / seconds);
  const finalists = verified
    .map(({ configuration, name, maxError }) => ({
      configuration,
      maxError,
      seconds: median(medians.get(name)!),
      ...ratioInterval(ratios(name)),
    }))
    .sort((a, b) => b.low - a.low);
  return {
    finalists,
    wrong,
    defaultSeconds: median(stockMedians),
    noiseFloor: noiseFloor(ratios(AGAIN_NAME)),
    processes: stockMedians.length,
    repetitions: stockMedians.length * repetitions,
  };
}

/** The best finalist that is faster than the default beyond doubt and beyond noise; null when the default is best. */
export function winner(finals: Finals): Finalist | null {
  const best = finals.finalists[0];
  return best !== undefined && best.low > 1 && best.ratio > 1 + finals.noiseFloor ? best : null;
}
