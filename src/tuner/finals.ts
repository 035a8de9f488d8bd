// Finals: the few best configurations against the default, verified, and measured in several processes.
import { setTimeout as sleep } from 'node:timers/promises';
import { buildCandidates } from '../measure/build.ts';
import { candidateOf, functionNames, truthOf } from '../measure/candidate-module.ts';
import { timeCandidates } from '../measure/candidate-timings.ts';
import {
  geometricMean,
  largestDeviation,
  median,
  noiseFloor,
  ratioInterval,
  type Interval,
} from '../measure/statistics.ts';
import type { Toolchain } from '../measure/toolchain.ts';
import { compareOutputs, runFunction } from '../measure/verify.ts';
import type { Configuration } from '../space/configuration.ts';
import type { Workload } from '../workload/workload.ts';
import { DEFAULT_NAME, SLOW_DEFAULT_SECONDS } from './screen.ts';

/** The default a second time: its ratio to itself is the noise floor. */
const AGAIN_NAME = 'again';

/** A default slower than this, in seconds, is not run a second time: its ratio from process to process tells enough. */
const LONGEST_REPEATED_SECONDS = 0.3;

const runsOfDefault = (defaultSeconds: number) => (defaultSeconds > LONGEST_REPEATED_SECONDS ? 1 : 2);

export interface Finalist extends Interval {
  readonly configuration: Configuration;
  readonly seconds: number;
  readonly maxError: number;
  /** Lower end of the gain's interval at the size of a dynamic dimension where it is lowest; `low` where all are static. */
  readonly leastLow: number;
}

export interface Finals {
  /** Verified finalists, best lower bound first. */
  readonly finalists: readonly Finalist[];
  /** Configurations whose output was wrong, with what differed from the default's or from the truth. */
  readonly wrong: readonly { readonly configuration: Configuration; readonly reason: string }[];
  readonly defaultSeconds: number;
  readonly noiseFloor: number;
  readonly processes: number;
  readonly repetitions: number;
}

/** How thoroughly to measure: slow programs get fewer repetitions, for their spread is smaller too. */
interface FinalsEffort {
  readonly processes: number;
  /** Processes to add, one by one, while the intervals are still too wide to decide. */
  readonly moreProcesses: number;
  readonly repetitions: number;
}

function finalsEffort(secondsOfAll: number): FinalsEffort {
  if (secondsOfAll > 0.8) return { processes: 3, moreProcesses: 1, repetitions: 1 };
  if (secondsOfAll > 0.08) return { processes: 4, moreProcesses: 4, repetitions: 3 };
  return { processes: 5, moreProcesses: 8, repetitions: 5 };
}

/** Processes that an interval takes; what the budget pays for decides about more. */
const LEAST_PROCESSES = 3;

/** Least time spent in one repetition, in seconds. */
const MIN_SECONDS = 0.02;

/** Half-width of an interval, relative to its ratio, that is narrow enough to stop at. */
const NARROW = 0.03;

/** Candidates that take longer, in seconds, go into the finals without semifinals. */
export const LONGEST_SEMIFINAL_SECONDS = 0.05;

/**
 * Seconds that semifinals and finals measure at least, for who has to keep time for them; compiling comes on top.
 * @param defaultSeconds and `finalists`: of one run at every size
 */
export function finalsSeconds(defaultSeconds: number, finalists: readonly number[], sizes: number): number {
  const all =
    runsOfDefault(defaultSeconds) * defaultSeconds + finalists.reduce((sum, seconds) => sum + seconds, 0);
  const { processes, repetitions } = finalsEffort(all);
  const perProcess = 0.1 + repetitions * (all + MIN_SECONDS * sizes * (finalists.length + 2));
  // The semifinals: eight candidates at about these speeds, seven times.
  const slowest = Math.max(0, ...finalists);
  const semifinals =
    slowest > LONGEST_SEMIFINAL_SECONDS
      ? 0
      : 7 * (defaultSeconds > SLOW_DEFAULT_SECONDS ? 0 : defaultSeconds) +
        7 * 8 * Math.max(0.02 * sizes, slowest);
  return semifinals + all + processes * perProcess;
}

/**
 * Compiles default and finalists into one module, compares each output with the default's on random operands (in narrow
 * accumulators, where another order of summation rounds to something else, also with the truth) and times all of them in
 * several processes, each of them interleaved, with operands placed apart and packed in turn: what is good in one
 * placement only has a wide interval, and so a low place.
 * @param expected screened seconds of the default and of the finalists, at every size, from which repetitions are chosen
 * @param isTimeLeft whether more processes than the least may be spent
 */
export async function runFinals(
  toolchain: Toolchain,
  workload: Workload,
  configurations: readonly Configuration[],
  expected: { readonly defaultSeconds: number; readonly seconds: readonly number[] },
  isTimeLeft: () => boolean,
): Promise<Finals | null> {
  const stock = { name: DEFAULT_NAME, attribute: null };
  const candidates = configurations.map((configuration, i) =>
    candidateOf(`f${i}`, configuration, workload, toolchain.release),
  );
  const isAgain = runsOfDefault(expected.defaultSeconds) > 1;
  const defaults = isAgain ? [stock, { ...stock, name: AGAIN_NAME }] : [stock];
  const all = [...defaults, ...candidates, ...truthOf(workload)];
  const build = await buildCandidates(toolchain, workload, all, 'finals');
  const builtNames = new Set(build.built.map(({ name }) => name));
  if (build.module === null || !defaults.every(({ name }) => builtNames.has(name))) return null;
  const module = build.module;

  const secondsOfAll =
    defaults.length * expected.defaultSeconds + expected.seconds.reduce((sum, s) => sum + s, 0);
  const timeoutSeconds = 30 + 100 * secondsOfAll;
  const references = await outputsOf(toolchain, workload, module, DEFAULT_NAME, timeoutSeconds);
  if (references === null) return null;
  // Where it cannot be had, outputs are compared with the default's alone.
  const truth = build.built.find(({ sumsIn }) => sumsIn !== undefined);
  const truths = truth && (await outputsOf(toolchain, workload, module, truth.name, timeoutSeconds));
  const wrong: { configuration: Configuration; reason: string }[] = [];
  const verified: { configuration: Configuration; name: string; maxError: number }[] = [];
  for (const [i, configuration] of configurations.entries()) {
    const name = `f${i}`;
    if (!builtNames.has(name)) continue;
    const outputs = await outputsOf(toolchain, workload, module, name, timeoutSeconds);
    const comparisons = outputs?.map((output, size) =>
      compareOutputs(references[size]!, output, workload.accumulator.elementType, truths?.[size]),
    );
    const different = comparisons?.find(({ equal }) => !equal);
    if (comparisons === undefined) wrong.push({ configuration, reason: 'the program failed' });
    else if (different !== undefined)
      wrong.push({ configuration, reason: different.reason ?? 'outputs differ' });
    else
      verified.push({
        configuration,
        name,
        maxError: Math.max(...comparisons.map(({ maxError }) => maxError)),
      });
  }

  const effort = finalsEffort(secondsOfAll);
  const { repetitions } = effort;
  const names = [...defaults, ...verified].map(({ name }) => name);
  // Of each candidate, for each process, medians at each size.
  const medians = new Map<string, (readonly number[])[]>(names.map((name) => [name, []]));
  const means = (name: string) => medians.get(name)!.map(geometricMean);
  const ratios = (name: string) => {
    const stockMeans = means(DEFAULT_NAME);
    return means(name).map((seconds, i) => stockMeans[i]! / seconds);
  };
  const ratiosAt = (name: string, size: number) =>
    medians.get(name)!.map((seconds, i) => medians.get(DEFAULT_NAME)![i]![size]! / seconds[size]!);
  const ranking = (): Finalist[] =>
    verified
      .map(({ configuration, name, maxError }) => ({
        configuration,
        maxError,
        seconds: median(means(name)),
        ...ratioInterval(ratios(name)),
        leastLow: Math.min(...references.map((_, size) => ratioInterval(ratiosAt(name, size)).low)),
      }))
      .sort((a, b) => b.low - a.low);

  await sleep(50);
  for (let run = 0; run < effort.processes + effort.moreProcesses; run++) {
    if (run >= LEAST_PROCESSES && !isTimeLeft()) break;
    if (run >= effort.processes && isNarrow(ranking()[0])) break;
    const placement = run % 2 === 0 ? 'apart' : 'packed';
    const options = { repetitions, minSeconds: MIN_SECONDS, timeoutSeconds, only: names, placement } as const;
    const { seconds } = await timeCandidates(toolchain, workload, module, names, options);
    // A process in which anything failed pairs nothing with nothing.
    if (!names.every((name) => seconds.has(name))) continue;
    for (const name of names) medians.get(name)!.push(seconds.get(name)!);
  }
  const stockMeans = means(DEFAULT_NAME);
  if (stockMeans.length < 2) return null;
  return {
    finalists: ranking(),
    wrong,
    defaultSeconds: median(stockMeans),
    noiseFloor: isAgain ? noiseFloor(ratios(AGAIN_NAME)) : largestDeviation(stockMeans),
    processes: stockMeans.length,
    repetitions: stockMeans.length * repetitions,
  };
}

/** Outputs at each size; null when one of them cannot be had. */
async function outputsOf(
  toolchain: Toolchain,
  workload: Workload,
  module: string,
  name: string,
  timeoutSeconds: number,
): Promise<Uint8Array[] | null> {
  const outputs: Uint8Array[] = [];
  for (const functionName of functionNames(workload, name)) {
    const output = await runFunction(toolchain, module, functionName, timeoutSeconds);
    if (output === null) return null;
    outputs.push(output);
  }
  return outputs;
}

/** Whether more processes would only confirm what is known: the interval is narrow, or 1 is nowhere near it. */
function isNarrow(best: Finalist | undefined): boolean {
  if (best === undefined) return true;
  return best.high / best.ratio - 1 < NARROW || best.low > 1.5;
}

/**
 * A smaller gain is not worth a configuration: the same program differs by about as much from one process to the
 * next, so nobody would see it again.
 */
const LEAST_GAIN = 0.02;

/**
 * The best finalist that is faster than the default beyond doubt and beyond noise, and at no size of a dynamic dimension
 * slower by more than noise; null when the default is best.
 */
export function winner(finals: Finals): Finalist | null {
  const margin = Math.max(LEAST_GAIN, finals.noiseFloor);
  const best = finals.finalists.find(({ leastLow }) => leastLow > 1 - margin);
  const least = 1 + margin;
  return best !== undefined && best.low > 1 && best.ratio > least ? best : null;
}

/** A gain that a search should not miss. */
const WORTHWHILE_GAIN = 0.05;

/**
 * Whether a worthwhile gain may be hidden in the noise: finals without a winner then say little about the default. What
 * loses at one size of a dynamic dimension is known well enough.
 */
export const isLostInNoise = ({ finalists }: Finals): boolean =>
  finalists.some(
    ({ low, high, leastLow }) => high > 1 + WORTHWHILE_GAIN && leastLow >= Math.min(low, 1 - WORTHWHILE_GAIN),
  );
