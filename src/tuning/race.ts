// The race of the finalists: processes are spent on those that may still win.
import type { Configuration } from '../backend/configuration.ts';
import { DEFAULT_CONFIGURATION } from '../backend/configuration.ts';
import type { Run } from '../store/store.ts';
import { geometricMean, largestDeviation, median, noiseFloor } from '../measure/statistics.ts';
import type { FailedFinalist, Finalist, Finals, Stratum } from './bench.ts';
import { isNearlyClaimed, judge, LOOKS, mayBeat, ordinary, type Judgement, type Process } from './rule.ts';
import { isBeside } from './sorts.ts';

/** Of each process in turn: the first four are one of each, as far as placements differ. */
const STRATA: readonly Stratum[] = [
  { placement: 'apart', build: 0 },
  { placement: 'packed', build: 1 },
  { placement: 'apart', build: 1 },
  { placement: 'packed', build: 0 },
];

/** Processes that may come to nothing, because the default failed in them. */
const MOST_MISSES = 4;

/** What is known of a finalist in the end. */
export interface Standing extends Judgement {
  readonly configuration: Configuration;
  /** Medians of one execution, over sizes their geometric means, where the ratio was found. */
  readonly seconds: number;
  readonly defaultSeconds: number;
  readonly maxError: number;
  /** In which it was timed. */
  readonly processes: number;
}

export interface Race {
  /** Those that were timed to the end first, then the best first. */
  readonly standings: readonly Standing[];
  /** Configurations that are out: their output was wrong, or they failed. */
  readonly failed: readonly FailedFinalist[];
  /** Median of one execution, over sizes their geometric mean. */
  readonly defaultSeconds: number;
  readonly noiseFloor: number;
  readonly processes: number;
  /** In each process. */
  readonly repetitions: number;
}

interface TimedProcess extends Process {
  /** Of one execution, over sizes their geometric means. */
  readonly seconds: number;
  readonly defaultSeconds: number;
}

interface Runner extends Finalist {
  readonly processes: TimedProcess[];
}

/**
 * Spends processes until it is known which finalist is best, or that none is worth having. Those that cannot win any more
 * are dropped at each look; one that fails is out, and costs the others nothing.
 * @param isTimeLeft whether more processes than the least may be spent
 * @param note is told what every process has shown, as soon as it has
 * @returns null when the default could not be timed
 */
export async function race(
  finals: Finals,
  isTimeLeft: () => boolean,
  note: (runs: readonly Run[]) => void,
): Promise<Race | null> {
  const failed = [...finals.failed];
  const strata = STRATA.filter(({ placement }) => finals.placements.includes(placement));
  const runners: Runner[] = finals.finalists.map((one) => ({ ...one, processes: [] }));
  let running = runners;
  const defaultMeans: number[] = [];
  const againRatios: number[] = [];
  const areQuick = finals.leastProcesses >= LOOKS[0]!;
  const isDecided = () => running.length === 0 && defaultMeans.length >= finals.leastProcesses;
  for (let misses = 0; !isDecided() && misses < MOST_MISSES;) {
    const count = defaultMeans.length;
    const isEnough = count >= finals.leastProcesses && !isTimeLeft();
    // To leave it now would make all that was spent on it worth nothing.
    const isWorthIt = running.some(({ processes }) => isNearlyClaimed(processes, areQuick));
    if (count >= finals.mostProcesses || (isEnough && !isWorthIt)) break;
    const stratum = strata[count % strata.length]!;
    const timed = await finals.time(
      running.map(({ name }) => name),
      stratum,
    );
    const out = running.filter(({ name }) => timed.failed.has(name));
    for (const { name, configuration } of out) {
      const reason = timed.failed.get(name)!;
      const outcome = reason.startsWith('took longer') ? 'timeout' : 'run-error';
      failed.push({ configuration, outcome, reason });
      runners.splice(
        runners.findIndex((one) => one.name === name),
        1,
      );
    }
    running = running.filter((one) => !out.includes(one));
    // The others were timed alone this time: it is done again without the one that failed.
    if (out.length > 0) continue;
    const { defaultSeconds, againSeconds } = timed;
    // A process in which the default failed pairs nothing with nothing.
    if (defaultSeconds === null || running.some(({ name }) => !timed.seconds.has(name))) {
      misses++;
      continue;
    }
    const base = { stage: 'finals', batch: count, ...stratum, defaultSeconds } as const;
    const timings = [
      { configuration: DEFAULT_CONFIGURATION, seconds: againSeconds },
      ...running.map(({ name, configuration }) => ({ configuration, seconds: timed.seconds.get(name)! })),
    ];
    note(
      timings.flatMap(({ configuration, seconds }) => (seconds ? [{ ...base, configuration, seconds }] : [])),
    );
    defaultMeans.push(geometricMean(defaultSeconds));
    if (againSeconds !== null) againRatios.push(defaultMeans.at(-1)! / geometricMean(againSeconds));
    for (const { name, processes } of running) {
      const own = timed.seconds.get(name)!;
      processes.push({
        stratum: `${stratum.placement} ${stratum.build}`,
        gains: own.map((value, size) => Math.log(defaultSeconds[size]! / value)),
        seconds: geometricMean(own),
        defaultSeconds: geometricMean(defaultSeconds),
      });
    }
    if (LOOKS.includes(defaultMeans.length)) {
      running = stillRunning(running);
      if (running.length === 1 && judge(running[0]!.processes).verdict === 'claim') break;
    }
  }
  if (defaultMeans.length < 2) return null;
  return {
    standings: runners
      .map(standingOf)
      .filter(({ processes }) => processes > 0)
      .sort((a, b) => b.processes - a.processes || b.ratio - a.ratio),
    failed,
    defaultSeconds: median(defaultMeans),
    noiseFloor: againRatios.length > 1 ? noiseFloor(againRatios) : largestDeviation(defaultMeans),
    processes: defaultMeans.length,
    repetitions: finals.repetitions,
  };
}

function standingOf({ configuration, maxError, processes }: Runner): Standing {
  const counted = ordinary(processes);
  return {
    configuration,
    maxError,
    seconds: median(counted.map((one) => one.seconds)),
    defaultSeconds: median(counted.map((one) => one.defaultSeconds)),
    processes: processes.length,
    ...judge(processes),
  };
}

/** Processes in which it is to be seen whether the best of the other sort is faster than the default, too. */
const BESIDE_PROCESSES = 8;

/**
 * Those that may still win: not what is known to be no faster, and, once one is known to be faster, only what may beat it, and
 * for a while the best of the other sort. What is ahead but not known to be faster costs nobody the race.
 */
function stillRunning(runners: readonly Runner[]): Runner[] {
  const judged = runners.map((runner) => {
    const { configuration, processes } = runner;
    return { runner, configuration, count: processes.length, ...judge(processes) };
  });
  const claims = judged.filter(({ verdict }) => verdict === 'claim').sort((a, b) => b.ratio - a.ratio);
  const open = judged.filter(({ verdict }) => verdict !== 'nothing');
  const [leader] = claims;
  if (leader === undefined) return open.map(({ runner }) => runner);
  const others = open.filter((one) => isBeside(leader, one)).sort((a, b) => b.ratio - a.ratio);
  const isKnown = others.some((one) => claims.includes(one));
  const beside = others.find(({ count }) => !isKnown && count < BESIDE_PROCESSES);
  return open
    .filter(
      (one) => one === leader || one === beside || mayBeat(one.runner.processes, leader.runner.processes),
    )
    .map(({ runner }) => runner);
}

/** The best finalist that is faster than the default beyond doubt; null when there is none, and the default is best. */
export const winner = ({ standings }: Pick<Race, 'standings'>): Standing | null =>
  standings.find(({ verdict }) => verdict === 'claim') ?? null;

/** Whether something faster than the default may be among those that did not win: the race says little about it then. */
export const isOpen = (raced: Pick<Race, 'standings'>): boolean =>
  winner(raced) === null &&
  raced.standings.some(({ verdict }) => verdict === 'undecided' || verdict === 'busy');
