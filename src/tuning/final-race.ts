// The race of the finalists: which is best, and whether it is faster than the default beyond doubt.
import type { Configuration } from '../backend/configuration.ts';
import { geometricMean, largestDeviation, median, sumOf } from '../measure/statistics.ts';
import type { Failure, Field, TimedProcess } from './bench.ts';
import { race, type Question, type Runner } from './race.ts';
import { judge, LEAST_PROCESSES, LOOKS, mayBeat, ordinary, wouldClaim, type Judgement } from './rule.ts';
import { isBeside } from './sorts.ts';

/** What is known of a finalist in the end. */
export interface Standing extends Judgement {
  readonly configuration: Configuration;
  /** Medians of one execution, over sizes their geometric means, where the ratio was found. */
  readonly seconds: number;
  readonly defaultSeconds: number;
  readonly maxError: number;
  /** In which it was timed, and repetitions in all of them. */
  readonly processes: number;
  readonly repetitions: number;
}

export interface Race {
  /** Those that were timed to the end first, then the best first. */
  readonly standings: readonly Standing[];
  /** Configurations that are out: their output was wrong, or they failed. */
  readonly failed: readonly Failure[];
  /** Median of one execution, over sizes their geometric mean. */
  readonly defaultSeconds: number;
  /** Largest relative distance of the default's time in one process from its median. */
  readonly noiseFloor: number;
  readonly processes: number;
  /** Over all processes. */
  readonly repetitions: number;
}

/** Processes that a race of quick contestants may take although the time is up. */
const QUICK_PROCESSES = 8;

/**
 * Spends processes until it is known which finalist is best, or that none is worth having. Those that cannot win any more
 * are dropped at each look; one that fails is out, and costs the others nothing.
 * @param isTimeLeft whether more processes than the least may be spent
 * @param note is told of each process as soon as it has ended
 * @returns null when the default could not be timed
 */
export async function finalRace(
  field: Field,
  isTimeLeft: () => boolean,
  note?: (process: TimedProcess, round: number) => void,
): Promise<Race | null> {
  // Quick processes cost little: one is continued further than a slow one.
  const within = field.leastProcesses > LEAST_PROCESSES ? QUICK_PROCESSES : 0;
  const whichIsBest: Question = {
    rest: (runners, rounds) => (LOOKS.includes(rounds) ? stillRunning(runners) : runners),
    // A claim that two more processes are likely to make is worth more than the time that is over.
    goesOn: (runners) =>
      runners.some(({ processes }) => wouldClaim(processes, Math.max(within, processes.length + 2))),
  };
  const raced = await race(field, whichIsBest, isTimeLeft, note);
  const means = raced.processes.flatMap(({ defaultSeconds }) =>
    defaultSeconds === null ? [] : [geometricMean(defaultSeconds)],
  );
  if (raced.rounds < 2) return null;
  return {
    standings: raced.runners
      .filter(({ processes }) => processes.length > 0)
      .map(standingOf)
      .sort((a, b) => b.processes - a.processes || b.ratio - a.ratio),
    failed: raced.failed,
    ...{ defaultSeconds: median(means), noiseFloor: largestDeviation(means), processes: raced.rounds },
    repetitions: sumOf(raced.processes.map(({ repetitions }) => repetitions)),
  };
}

function standingOf({ configuration, maxError, processes }: Runner): Standing {
  const counted = ordinary(processes);
  return {
    ...{ configuration, maxError },
    seconds: median(counted.map((one) => one.seconds)),
    defaultSeconds: median(counted.map((one) => one.defaultSeconds)),
    processes: processes.length,
    repetitions: sumOf(processes.map(({ repetitions }) => repetitions)),
    ...judge(processes),
  };
}

/** Processes in which it is to be seen whether the best of the other sort is faster than the default, too. */
const BESIDE_PROCESSES = 8;

/**
 * Those that may still win: not what is known to be no faster, and, once one is known to be faster, only what may beat it, and
 * for a while the best of the other sort. What is ahead but not known to be faster costs nobody the race. None where one that
 * is known to be faster is alone.
 */
function stillRunning(runners: readonly Runner[]): readonly Runner[] {
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
  const rivals = open.filter(
    (one) => one === beside || (one !== leader && mayBeat(one.runner.processes, leader.runner.processes)),
  );
  return rivals.length === 0 ? [] : [leader, ...rivals].map(({ runner }) => runner);
}

/** The best finalist that is faster than the default beyond doubt; null when there is none, and the default is best. */
export const winner = ({ standings }: Pick<Race, 'standings'>): Standing | null =>
  standings.find(({ verdict }) => verdict === 'claim') ?? null;

/** Whether something faster than the default may be among those that did not win: the race says little about it then. */
export const isOpen = (raced: Pick<Race, 'standings'>): boolean =>
  winner(raced) === null && raced.standings.some(({ verdict }) => verdict === 'undecided');
