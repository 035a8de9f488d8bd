// The final race: which finalist is best, and whether it is faster than the default within the error budget of the rule.
import type { Configuration } from '../backend/configuration.ts';
import { geometricMean, largestDeviation, median, sumOf } from '../measure/statistics.ts';
import type { Failure, Field, TimedProcess } from './bench.ts';
import { race, type Question, type Runner } from './race.ts';
import { judge, LEAST_PROCESSES, LOOKS, mayBeat, ordinary, wouldClaim, type Judgement } from './rule.ts';
import { isAlternative } from './worth.ts';

/** Result of one finalist. */
export interface Standing extends Judgement {
  readonly configuration: Configuration;
  /** Medians of one execution in ordinary processes; over sizes, geometric means. */
  readonly seconds: number;
  readonly defaultSeconds: number;
  readonly maxError: number;
  /** Processes that timed it, and repetitions in all of them. */
  readonly processes: number;
  readonly repetitions: number;
}

export interface Race {
  /** Most processes first, then the highest ratio first. */
  readonly standings: readonly Standing[];
  /** Configurations that were disqualified: wrong output, or a failure. */
  readonly failed: readonly Failure[];
  /** Median of one execution; over sizes, the geometric mean. */
  readonly defaultSeconds: number;
  /** Largest relative distance of the default's time in one process from its median. */
  readonly noiseFloor: number;
  readonly processes: number;
  /** Sum over all processes. */
  readonly repetitions: number;
}

/** Processes that a race of quick contestants may take after the time is up. */
const QUICK_PROCESSES = 8;

/**
 * Runs processes until one finalist is known to be best, or none is worth a configuration. Each look drops the finalists that cannot
 * win any more. A finalist that fails is out; the others are not affected.
 * @param isTimeLeft whether more processes than the minimum may run
 * @param note receives each process as soon as it ends
 * @returns null if the default could not be timed
 */
export async function finalRace(
  field: Field,
  isTimeLeft: () => boolean,
  note?: (process: TimedProcess, round: number) => void,
): Promise<Race | null> {
  // Quick processes are cheap, so the race goes on for longer.
  const within = field.leastProcesses > LEAST_PROCESSES ? QUICK_PROCESSES : 0;
  const whichIsBest: Question = {
    rest: (runners, rounds) => (LOOKS.includes(rounds) ? stillRunning(runners) : runners),
    // A claim that two more processes are likely to make is worth the extra time.
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

/** Processes after which an undecided alternative no longer keeps the race going. */
const ALTERNATIVE_PROCESSES = 8;

/**
 * Finalists that may still win. Before any claim: all without the verdict `nothing`. After a claim: the leader, those that may beat
 * it, and for some processes its alternative. None if the leader is alone. A finalist ahead of the leader without a claim does not
 * cost the leader the race.
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
  const others = open.filter((one) => isAlternative(leader, one)).sort((a, b) => b.ratio - a.ratio);
  const isKnown = others.some((one) => claims.includes(one));
  const alternative = others.find(({ count }) => !isKnown && count < ALTERNATIVE_PROCESSES);
  const rivals = open.filter(
    (one) =>
      one === alternative || (one !== leader && mayBeat(one.runner.processes, leader.runner.processes)),
  );
  return rivals.length === 0 ? [] : [leader, ...rivals].map(({ runner }) => runner);
}

/** The best finalist with a claim; null if there is none and the default is best. */
export const winner = ({ standings }: Pick<Race, 'standings'>): Standing | null =>
  standings.find(({ verdict }) => verdict === 'claim') ?? null;
