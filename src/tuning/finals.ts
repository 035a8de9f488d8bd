// Finals: the few best configurations against the default, verified, and measured in several processes.
import { setTimeout as sleep } from 'node:timers/promises';
import { buildCandidates } from '../measure/build.ts';
import { candidateOf, stockCandidate, truthOf } from '../measure/candidate-module.ts';
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
import type { Configuration } from '../backend/configuration.ts';
import { type Workload, staticForms } from '../workload/workload.ts';
import { verifyCandidates } from '../measure/verify-candidates.ts';
import type { TrialOutcome } from '../store/store.ts';
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

export interface FailedFinalist {
  readonly configuration: Configuration;
  readonly outcome: Exclude<TrialOutcome, 'measured'>;
  /** What differed from the default's output or from the truth, or how it ended. */
  readonly reason: string;
}

export interface Finals {
  /** Verified finalists, best lower bound first. */
  readonly finalists: readonly Finalist[];
  /** Configurations that are out: their output was wrong, or they failed. */
  readonly failed: readonly FailedFinalist[];
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

/** What a process takes before it runs anything, in seconds. */
const START_SECONDS = 0.1;

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
  const perProcess = START_SECONDS + repetitions * (all + MIN_SECONDS * sizes * (finalists.length + 2));
  // The semifinals: eight candidates at about these speeds, seven times.
  const slowest = Math.max(0, ...finalists);
  const semifinals =
    slowest > LONGEST_SEMIFINAL_SECONDS
      ? 0
      : 7 * (defaultSeconds > SLOW_DEFAULT_SECONDS ? 0 : defaultSeconds) +
        7 * 8 * Math.max(0.02 * sizes, slowest);
  // The outputs of default and finalists, on two sets of values.
  const verification = 2 * (all + START_SECONDS * (finalists.length + 1));
  return semifinals + verification + processes * perProcess;
}

/**
 * Compiles default and finalists into one module, verifies each and times all of them in several processes, each of them
 * interleaved, with operands placed apart and packed in turn: what is good in one placement only has a wide interval,
 * and so a low place. A finalist that fails is out, and costs the others nothing.
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
  const stock = stockCandidate(DEFAULT_NAME);
  const candidates = configurations.map((configuration, i) =>
    candidateOf(`f${i}`, configuration, workload, toolchain.release),
  );
  const isAgain = runsOfDefault(expected.defaultSeconds) > 1;
  const defaults = isAgain ? [stock, stockCandidate(AGAIN_NAME)] : [stock];
  const all = [...defaults, ...candidates, ...truthOf(workload)];
  const build = await buildCandidates(toolchain, workload, all, 'finals');
  if (build.module === null || defaults.some(({ name }) => build.refused.has(name))) return null;

  const secondsOfAll =
    defaults.length * expected.defaultSeconds + expected.seconds.reduce((sum, s) => sum + s, 0);
  const timeoutSeconds = 30 + 100 * secondsOfAll;
  const failed: FailedFinalist[] = [];
  /** Those still in the finals. */
  const finalists = new Map<string, { configuration: Configuration; maxError: number }>();
  const named = configurations.map((configuration, i) => ({ configuration, name: `f${i}` }));
  const names = named.map(({ name }) => name).filter((name) => !build.refused.has(name));
  const verified = await verifyCandidates(toolchain, workload, build, DEFAULT_NAME, names, timeoutSeconds);
  if (verified === null) return null;
  for (const { configuration, name } of named) {
    const refusal = build.refused.get(name);
    const known = verified.get(name);
    if (refusal !== undefined) failed.push({ configuration, outcome: 'compile-error', reason: refusal });
    else if (known?.outcome === 'right') finalists.set(name, { configuration, maxError: known.maxError });
    else if (known !== undefined) failed.push({ configuration, ...known });
  }

  const effort = finalsEffort(secondsOfAll);
  const { repetitions } = effort;
  // Of each candidate, for each process, medians at each size.
  const medians = new Map<string, (readonly number[])[]>(
    [...defaults, ...candidates].map(({ name }) => [name, []]),
  );
  const means = (name: string) => medians.get(name)!.map(geometricMean);
  const ratios = (name: string) => {
    const stockMeans = means(DEFAULT_NAME);
    return means(name).map((seconds, i) => stockMeans[i]! / seconds);
  };
  const ratiosAt = (name: string, size: number) =>
    medians.get(name)!.map((seconds, i) => medians.get(DEFAULT_NAME)![i]![size]! / seconds[size]!);
  const ranking = (): Finalist[] =>
    [...finalists]
      .map(([name, finalist]) => ({
        ...finalist,
        seconds: median(means(name)),
        ...ratioInterval(ratios(name)),
        leastLow: Math.min(
          ...staticForms(workload).map((_, size) => ratioInterval(ratiosAt(name, size)).low),
        ),
      }))
      .sort((a, b) => b.low - a.low);

  await sleep(50);
  for (let run = 0; run < effort.processes + effort.moreProcesses;) {
    if (run >= LEAST_PROCESSES && !isTimeLeft()) break;
    if (run >= effort.processes && isNarrow(ranking()[0])) break;
    const timed = [...defaults.map(({ name }) => name), ...finalists.keys()];
    const placement = run % 2 === 0 ? 'apart' : 'packed';
    const options = { repetitions, minSeconds: MIN_SECONDS, timeoutSeconds, only: timed, placement } as const;
    const timings = await timeCandidates(toolchain, workload, build.module, timed, options);
    const out = [...timings.failed].filter(([name]) => finalists.has(name));
    for (const [name, reason] of out) {
      const { configuration } = finalists.get(name)!;
      failed.push({
        configuration,
        outcome: reason.startsWith('took longer') ? 'timeout' : 'run-error',
        reason,
      });
      finalists.delete(name);
    }
    // The others were timed alone this time: it is done again without the one that failed.
    if (out.length > 0) continue;
    run++;
    // A process in which the default failed pairs nothing with nothing.
    if (timed.every((name) => timings.seconds.has(name)))
      for (const name of timed) medians.get(name)!.push(timings.seconds.get(name)!);
  }
  const stockMeans = means(DEFAULT_NAME);
  if (stockMeans.length < 2) return null;
  return {
    finalists: ranking(),
    failed,
    defaultSeconds: median(stockMeans),
    noiseFloor: isAgain ? noiseFloor(ratios(AGAIN_NAME)) : largestDeviation(stockMeans),
    processes: stockMeans.length,
    repetitions: stockMeans.length * repetitions,
  };
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
 * The best finalist of those that are faster than the default beyond doubt and beyond noise, and at no size of a dynamic
 * dimension slower by more than noise; null when there is none, and the default is best.
 */
export function winner({ finalists, noiseFloor }: Finals): Finalist | null {
  const margin = Math.max(LEAST_GAIN, noiseFloor);
  return (
    finalists.find(({ ratio, low, leastLow }) => low > 1 && ratio > 1 + margin && leastLow > 1 - margin) ??
    null
  );
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
