// A race runs processes with contestants until a question about them is answered. Pure, except for the field.
import { geometricMean, sumOf } from '../measure/statistics.ts';
import type { Contestant, Failure, Field, TimedProcess } from './bench.ts';
import type { Process } from './rule.ts';

/** Processes without a complete result before the race gives up. */
const MOST_MISSES = 4;

/** One process of a contestant. Without a default, gains are relative to one second. */
export interface ContestantProcess extends Process {
  /** Seconds of one execution; over sizes, geometric means. */
  readonly seconds: number;
  readonly defaultSeconds: number;
  readonly repetitions: number;
}

export interface Runner extends Contestant {
  readonly processes: readonly ContestantProcess[];
  /** Logarithm of the mean gain over processes and sizes; NaN before the first process. */
  readonly gain: number;
}

/** The question that a race answers. */
export interface Question {
  /** Contestants that are worth another process; none if the question is answered. */
  rest(runners: readonly Runner[], rounds: number): readonly Runner[];
  /** Whether another process runs although the time is up; never if left out. */
  goesOn?(runners: readonly Runner[]): boolean;
}

export interface Raced {
  readonly contestants: readonly Contestant[];
  /** Contestants that did not fail, in the order of the field. */
  readonly runners: readonly Runner[];
  /** All failures, those before the race included. */
  readonly failed: readonly Failure[];
  readonly processes: readonly TimedProcess[];
  /** Complete rounds. */
  readonly rounds: number;
}

const failureOf = ({ configuration }: Contestant, reason: string): Failure => ({
  ...{ configuration, reason },
  outcome: reason.startsWith('took longer') ? 'timeout' : 'run-error',
});

/**
 * Times contestants until the question is answered or the time is up. A contestant that fails is out. The round is repeated for the
 * others, because after a failure each of them was timed alone.
 * @param isTimeLeft whether more processes than the minimum may run
 * @param note receives each process as soon as it ends
 */
export async function race(
  field: Field,
  question: Question,
  isTimeLeft: () => boolean,
  note: (process: TimedProcess, round: number) => void = () => undefined,
): Promise<Raced> {
  const { contestants, hasDefault, strata, leastProcesses, mostProcesses } = field;
  const failed = [...field.failed];
  const processes: TimedProcess[] = [];
  const out = new Set<string>();
  const runnersOf = (some: readonly Contestant[]) =>
    some.filter(({ name }) => !out.has(name)).map((one) => runnerOf(one, processes));
  let running: readonly Contestant[] = contestants;
  let [rounds, misses] = [0, 0];
  let isAnswered = false;
  // Without contestants the default is timed alone.
  const isOver = () => isAnswered || (running.length === 0 && rounds >= Math.max(1, leastProcesses));
  const isTimeUp = () => rounds >= leastProcesses && !isTimeLeft();
  while (!isOver() && rounds < mostProcesses && misses < MOST_MISSES) {
    if (isTimeUp() && question.goesOn?.(runnersOf(running)) !== true) break;
    const timed = await field.time(
      running.map(({ name }) => name),
      strata[rounds % strata.length]!,
    );
    const reasons = new Map(timed.flatMap((process) => [...process.failed]));
    const lost = running.filter(({ name }) => reasons.has(name));
    for (const one of lost) {
      failed.push(failureOf(one, reasons.get(one.name)!));
      out.add(one.name);
    }
    running = running.filter((one) => !lost.includes(one));
    if (lost.length > 0 && running.length > 0 && !isTimeUp()) continue;
    const isTimed = ({ name }: Contestant) => timed.some(({ seconds }) => seconds.has(name));
    // The limit was reached before each of them was timed alone. Nothing depends on a single one unless some processes have to run.
    if (leastProcesses === 0 || isTimeUp()) running = running.filter(isTimed);
    // Gains need the default and the contestant in the same process.
    const isWhole =
      (!hasDefault || timed.every(({ defaultSeconds }) => defaultSeconds !== null)) && running.every(isTimed);
    if (!isWhole) {
      misses++;
      continue;
    }
    for (const process of timed) note(process, rounds);
    processes.push(...timed);
    rounds++;
    if (running.length === 0) continue;
    running = question.rest(runnersOf(running), rounds);
    isAnswered = running.length === 0;
  }
  return { contestants, runners: runnersOf(contestants), failed, processes, rounds };
}

function runnerOf(contestant: Contestant, all: readonly TimedProcess[]): Runner {
  const { name } = contestant;
  const processes = all.flatMap((process): ContestantProcess[] => {
    const { placement, build, defaultSeconds, seconds, repetitions } = process;
    const own = seconds.get(name);
    if (own === undefined) return [];
    const stock = defaultSeconds ?? own.map(() => 1);
    return [
      {
        stratum: `${placement} ${build}`,
        gains: own.map((value, size) => Math.log(stock[size]! / value)),
        ...{ seconds: geometricMean(own), defaultSeconds: geometricMean(stock), repetitions },
      },
    ];
  });
  const gains = processes.flatMap((one) => one.gains);
  return { ...contestant, processes, gain: sumOf(gains) / gains.length };
}
