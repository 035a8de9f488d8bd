// Finals on this machine: the few best configurations and the default, verified, in two builds, ready to be timed.
import { setTimeout as sleep } from 'node:timers/promises';
import { configurationKey } from '../backend/index.ts';
import { buildCandidates, isBuilt } from '../measure/build.ts';
import { candidateOf, stockCandidate, truthOf } from '../measure/candidate-module.ts';
import { timeCandidates } from '../measure/candidate-timings.ts';
import { placementsHere } from '../measure/placement.ts';
import type { Toolchain } from '../measure/toolchain.ts';
import { sumOf } from '../measure/statistics.ts';
import { verifyCandidates } from '../measure/verify-candidates.ts';
import type { Configuration } from '../backend/configuration.ts';
import { elementBits } from '../workload/element-type.ts';
import { resultTypeOf, staticForms, type OperationWork } from '../workload/workload.ts';
import type { ExpectedSeconds, FailedFinalist, Finalist, Finals } from './bench.ts';
import { LEAST_PROCESSES, LOOKS } from './rule.ts';
import { DEFAULT_NAME, type CompiledTogether } from './screen.ts';

/** The default a second time: its ratio to itself is the noise floor. */
const AGAIN_NAME = 'again';

/** A default slower than this, in seconds, is not run a second time: its ratio from process to process tells enough. */
const LONGEST_REPEATED_SECONDS = 0.3;

const runsOfDefault = (defaultSeconds: number, isBrief: boolean) =>
  isBrief || defaultSeconds > LONGEST_REPEATED_SECONDS ? 1 : 2;

/** How thoroughly to measure: slow programs get less of it, for their spread is smaller too. */
interface FinalsEffort {
  readonly repetitions: number;
  readonly leastProcesses: number;
  readonly mostProcesses: number;
  /** Processes that time is kept for. */
  readonly likelyProcesses: number;
}

/**
 * Where little depends on the decision: most processes, and what they take of the time of others. On several threads, of which
 * each is disturbed, so little time would say nothing, and so few processes would not either.
 */
const BRIEF_PROCESSES = 8;
const BRIEF_PROCESSES_ON_THREADS = 12;
const BRIEF_SHARE = 0.5;

/**
 * Seconds that a function is timed for in one process, in as many repetitions as there can be: what else the machine does lasts
 * for milliseconds, and spares some of many.
 */
const TIMED_SECONDS = 0.06;
const LEAST_REPETITIONS = 3;
const MOST_REPETITIONS = 30;

/** Least time spent in one repetition, in seconds. */
const MIN_SECONDS = TIMED_SECONDS / MOST_REPETITIONS;

/** @param functions that all of it is for */
function finalsEffort(
  secondsOfAll: number,
  functions: number,
  isBrief: boolean,
  threads: number,
): FinalsEffort {
  if (secondsOfAll > 0.8)
    return { repetitions: 1, leastProcesses: LEAST_PROCESSES, mostProcesses: 8, likelyProcesses: 4 };
  const isAlone = threads === 1;
  const briefProcesses = isAlone ? BRIEF_PROCESSES : BRIEF_PROCESSES_ON_THREADS;
  const timedSeconds = (isBrief && isAlone ? BRIEF_SHARE : 1) * TIMED_SECONDS;
  const fitting = Math.floor(timedSeconds / Math.max(MIN_SECONDS, secondsOfAll / functions));
  return {
    repetitions: Math.min(MOST_REPETITIONS, Math.max(LEAST_REPETITIONS, fitting)),
    leastProcesses: LOOKS[0]!,
    mostProcesses: isBrief ? briefProcesses : LOOKS.at(-1)!,
    likelyProcesses: secondsOfAll > 0.08 ? 4 : 6,
  };
}

/** What a process takes before it runs anything, in seconds. */
const START_SECONDS = 0.05;

/** The functions in one order, which is one layout of the code. */
interface Layout {
  readonly module: string;
  /** What a finalist is called in it. */
  readonly nameOf: (finalist: string) => string;
}

const secondsOfAll = ({ ofDefault, ofFinalists }: ExpectedSeconds, isBrief: boolean) =>
  runsOfDefault(ofDefault, isBrief) * ofDefault + sumOf(ofFinalists);

/** Seconds that finals are likely to measure at so many sizes; compiling comes on top. */
export function finalsSeconds(
  expected: ExpectedSeconds,
  sizes: number,
  isBrief: boolean,
  threads: number,
): number {
  const all = secondsOfAll(expected, isBrief);
  const finalists = expected.ofFinalists;
  const functions = sizes * (finalists.length + runsOfDefault(expected.ofDefault, isBrief));
  const { likelyProcesses, repetitions } = finalsEffort(all, functions, isBrief, threads);
  const perProcess = START_SECONDS + repetitions * (all + MIN_SECONDS * functions);
  // The outputs of the default, once more between guards, and of finalists, on two sets of values at once.
  const verification = all + START_SECONDS * (finalists.length + 2);
  return verification + likelyProcesses * perProcess;
}

/**
 * Compiles default and finalists into one module, and into another one with the same functions in another order, and verifies
 * each. A finalist that fails is out, and costs the others nothing.
 * @param expected screened seconds, from which repetitions are chosen
 * @param isBrief see `Bench`
 * @param screened what has default and finalists already; takes the place of the first module where nothing is missing in it
 * @returns null when there is nothing to compare with
 * @throws StoppedError when the toolchain's signal fires
 */
export async function prepareFinals(
  toolchain: Toolchain,
  workload: OperationWork,
  configurations: readonly Configuration[],
  expected: ExpectedSeconds,
  isBrief: boolean,
  screened: CompiledTogether | null = null,
): Promise<Finals | null> {
  const candidates = configurations.map((configuration, i) =>
    candidateOf(`f${i}`, configuration, workload, toolchain.release),
  );
  const isAgain = runsOfDefault(expected.ofDefault, isBrief) > 1;
  const defaultNames = isAgain ? [DEFAULT_NAME, AGAIN_NAME] : [DEFAULT_NAME];
  const defaults = defaultNames.map(stockCandidate);
  const truths = truthOf(workload);
  const known = isAgain || truths.length > 0 ? null : screened;
  const everything = [...defaults, ...candidates, ...truths];
  // The same functions in another order, which is another layout of the code. The memory of elements that share bytes cannot be guarded.
  const isGuardable = elementBits(resultTypeOf(workload)) >= 8;
  const inReverse = [...defaults, ...candidates]
    .map((one) => ({ ...one, isGuarded: isGuardable && one.name !== AGAIN_NAME }))
    .toReversed();
  const [placements, build, reversed] = await Promise.all([
    placementsHere(toolchain),
    known?.build ?? buildCandidates(toolchain, workload, everything, 'finals'),
    buildCandidates(toolchain, workload, inReverse, 'finals_reversed'),
  ]);
  const { module } = build;
  if (module === null || !defaultNames.every((name) => isBuilt(build, name))) return null;

  const all = secondsOfAll(expected, isBrief);
  const functions = (defaults.length + candidates.length) * staticForms(workload).length;
  const timeoutSeconds = 30 + 100 * all;
  const failed: FailedFinalist[] = [];
  const finalists: Finalist[] = [];
  const named = configurations.map((configuration, i) => ({
    configuration,
    name: `f${i}`,
    first: known?.names.get(configurationKey(configuration)) ?? `f${i}`,
  }));
  const names = named.map(({ first }) => first).filter((name) => isBuilt(build, name));
  const guarded = reversed.module !== null &&
    isGuardable &&
    isBuilt(reversed, DEFAULT_NAME) && {
      module: reversed.module,
      nameOf: (name: string) => {
        const own = named.find(({ first }) => first === name)!.name;
        return isBuilt(reversed, own) ? own : null;
      },
    };
  const verified = await verifyCandidates(
    toolchain,
    workload,
    build,
    DEFAULT_NAME,
    names,
    timeoutSeconds,
    guarded || null,
  );
  if (verified === null) return null;
  for (const { configuration, name, first } of named) {
    const refusal = build.refused.get(first);
    const verification = verified.get(first);
    if (refusal !== undefined) failed.push({ configuration, outcome: 'compile-error', reason: refusal });
    else if (verification?.outcome === 'right')
      finalists.push({ name, configuration, maxError: verification.maxError });
    else if (verification !== undefined) failed.push({ configuration, ...verification });
  }
  const kept = [...defaultNames, ...finalists.map(({ name }) => name)];
  const isWhole = kept.every((name) => isBuilt(reversed, name));
  const firstNames = new Map(named.map(({ name, first }) => [name, first]));
  const layouts: readonly Layout[] = [
    { module, nameOf: (name) => firstNames.get(name)! },
    ...(isWhole ? [{ module: reversed.module!, nameOf: String }] : []),
  ];

  const { repetitions, leastProcesses, mostProcesses } = finalsEffort(
    all,
    functions,
    isBrief,
    toolchain.device.threads,
  );
  // The compiler's threads have just ended.
  await sleep(50);
  return {
    finalists,
    failed,
    placements,
    repetitions,
    leastProcesses,
    mostProcesses,
    async time(running, { placement, build }) {
      const layout = layouts[build] ?? layouts[0]!;
      const timed = [...defaultNames, ...running.map(layout.nameOf)];
      const timings = await timeCandidates(toolchain, workload, layout.module, timed, {
        repetitions,
        minSeconds: MIN_SECONDS,
        timeoutSeconds,
        only: timed,
        placement,
      });
      const byFinalist = <T>(byName: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
        new Map(
          running.flatMap((name) => {
            const own = byName.get(layout.nameOf(name));
            return own === undefined ? [] : [[name, own] as const];
          }),
        );
      const again = timings.seconds.get(AGAIN_NAME) ?? null;
      const isComplete = !isAgain || again !== null;
      return {
        defaultSeconds: (isComplete && timings.seconds.get(DEFAULT_NAME)) || null,
        againSeconds: again,
        seconds: byFinalist(timings.seconds),
        failed: byFinalist(timings.failed),
      };
    },
  };
}
