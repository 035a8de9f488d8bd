// Finals on this machine: compiles and verifies the default and the best few configurations in two builds, ready to be timed.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Device } from '../backend/device.ts';
import { meterOf } from '../backend/index.ts';
import { buildCandidates, isBuilt } from '../measure/build.ts';
import { candidateOf, stockCandidate, truthOf } from '../measure/candidate-module.ts';
import { compiledFillers } from '../measure/common-modules.ts';
import { placementsHere } from '../measure/placement.ts';
import type { Toolchain } from '../measure/toolchain.ts';
import { sumOf } from '../measure/statistics.ts';
import { verifyCandidates } from '../measure/verify-candidates.ts';
import { elementBits } from '../workload/element-type.ts';
import { resultTypeOf, type OperationWork } from '../workload/workload.ts';
import type { Contestant, Entry, Field, Stratum } from './bench.ts';
import { LEAST_PROCESSES, LOOKS } from './rule.ts';
import { refusedIn, type Part } from './screen.ts';
import { DEFAULT_NAME, FINALS, FINALS_ON_THREADS, repetitionsFor, Timer } from './timer.ts';

/** Most processes if little depends on the decision. On several threads each process is disturbed, so more are necessary. */
const BRIEF_PROCESSES = 8;
const BRIEF_PROCESSES_ON_THREADS = 12;

/**
 * Effort of finals: that of each process, and numbers of processes. The schedule keeps time for the likely number. Slow programs get
 * fewer processes: their times spread less.
 */
function effortOf(secondsOfAll: number, isBrief: boolean, threads: number) {
  const timing = threads === 1 ? FINALS : FINALS_ON_THREADS;
  if (secondsOfAll > 0.8) return { least: LEAST_PROCESSES, most: 8, likely: 4, timing };
  const brief = threads === 1 ? BRIEF_PROCESSES : BRIEF_PROCESSES_ON_THREADS;
  return {
    ...{ least: STRATA.length, most: isBrief ? brief : LOOKS.at(-1)!, timing },
    likely: secondsOfAll > 0.08 ? 4 : 6,
  };
}

/** Strata of the processes, in turn: the first four processes cover each stratum once, if placements differ. */
export const STRATA: readonly Stratum[] = [
  { placement: 'apart', build: 0 },
  { placement: 'packed', build: 1 },
  { placement: 'apart', build: 1 },
  { placement: 'packed', build: 0 },
];

/** Expected seconds of one run at every size: of the default, then of each finalist. */
const expectedSeconds = ({ finalists, defaultSeconds }: Entry): number[] => [
  defaultSeconds,
  ...finalists.map(({ ratio }) => defaultSeconds / ratio),
];

/** Seconds that finals are likely to measure at `sizes` sizes, without compiling. */
export function finalsSeconds(entry: Entry, sizes: number, device: Device): number {
  const expected = expectedSeconds(entry);
  const all = sumOf(expected);
  const { startSeconds } = meterOf(device);
  const { likely, timing } = effortOf(all, entry.isBrief, device.threads);
  const timed = expected.map((seconds) => repetitionsFor(seconds / sizes, timing) * seconds);
  // Runs of the default, of the default between guards, and of each finalist, on two sets of values.
  const verification = all + startSeconds * (entry.finalists.length + 2);
  return verification + likely * (startSeconds + sumOf(timed));
}

/**
 * Compiles default and finalists into one module, and into a second module with the functions in reverse order, and verifies both. A
 * finalist that fails is out; the others are not affected.
 * @param entry the screened times give the number of repetitions
 * @param screened a module of the search with all finalists, in their order; replaces the first module if verification needs no exact results
 * @returns null if the default is not available
 * @throws StoppedError when the toolchain's signal fires
 */
export async function prepareFinals(
  toolchain: Toolchain,
  workload: OperationWork,
  entry: Entry,
  screened: Part | null = null,
): Promise<Field | null> {
  const truths = truthOf(workload);
  const first = truths.length > 0 ? null : screened;
  const finalists =
    first?.built ??
    entry.finalists.map(({ configuration }, i): Contestant => ({
      name: `f${i}`,
      configuration,
      maxError: 0,
    }));
  const candidates = finalists.map(({ name, configuration }) =>
    candidateOf(name, configuration, workload, toolchain.release),
  );
  const stock = stockCandidate(DEFAULT_NAME);
  // Guards need elements of whole bytes.
  const isGuarded = elementBits(resultTypeOf(workload)) >= 8;
  const reversedOrder = [...candidates.toReversed(), stock].map((one) => ({ ...one, isGuarded }));
  const [placements, build, reversed] = await Promise.all([
    placementsHere(toolchain),
    first?.build ?? buildCandidates(toolchain, workload, [stock, ...candidates, ...truths], 'finals'),
    buildCandidates(toolchain, workload, reversedOrder, 'finals_reversed'),
    // Verification uses the fillers.
    compiledFillers(toolchain, workload, 'full'),
  ]);
  if (build.module === null || !isBuilt(build, DEFAULT_NAME)) return null;

  const [ofDefault, ...ofFinalists] = expectedSeconds(entry);
  const all = sumOf(expectedSeconds(entry));
  const built = finalists.map(({ name }) => name).filter((name) => isBuilt(build, name));
  const guarded = isGuarded ? reversed : null;
  const seconds = 30 + 100 * all;
  const verified = await verifyCandidates(toolchain, workload, build, DEFAULT_NAME, built, seconds, guarded);
  if (verified === null) return null;
  const failed = refusedIn(build, finalists);
  const contestants: Contestant[] = [];
  const timer = new Timer(toolchain, workload);
  timer.expect(DEFAULT_NAME, ofDefault!);
  for (const [i, finalist] of finalists.entries()) {
    const { name, configuration } = finalist;
    const verification = verified.get(name);
    if (verification?.outcome === 'right') {
      contestants.push({ ...finalist, maxError: verification.maxError });
      timer.expect(name, ofFinalists[i]!);
    } else if (verification !== undefined) failed.push({ configuration, ...verification });
  }
  const timed = [DEFAULT_NAME, ...contestants.map(({ name }) => name)];
  const isWhole = timed.every((name) => isBuilt(reversed, name));
  const modules = isWhole ? [build.module, reversed.module!] : [build.module];
  const { least, most, timing } = effortOf(all, entry.isBrief, toolchain.device.threads);
  // Clocks and caches settle after the compiler has ended.
  await sleep(50);
  return {
    ...{ contestants, failed, hasDefault: true, leastProcesses: least, mostProcesses: most },
    strata: STRATA.filter(({ placement }) => placements.includes(placement)),
    time: async (running, stratum) => {
      const module = { path: modules[stratum.build] ?? modules[0]!, hasDefault: true };
      return [await timer.time(module, running, stratum, timing)];
    },
  };
}
