// A race: processes are spent on contestants until a question about them is answered. Pure, except for the field.
import { geometricMean, sumOf } from '../measure/statistics.ts';
import type { Contestant, Failure, Field, TimedProcess } from './bench.ts';
import type { Process } from './rule.ts';

/** Processes that may come to nothing, because the default failed in them. */
const MOST_MISSES = 4;

/** One process of a contestant. Without a default, gains are over one second. */
export interface ContestantProcess extends Process {
  /** Of one execution, over sizes their geometric means. */
  readonly seconds: number;
  readonly defaultSeconds: number;
  readonly repetitions: number;
}

export interface Runner extends Contestant {
  readonly processes: readonly ContestantProcess[];
  /** Logarithm of its gain, the mean over its processes and sizes; NaN before the first one. */
  readonly gain: number;
}

/** What a race is to find out. */
export interface Question {
  /** Those that are worth another process. None where the question is answered. */
  rest(runners: readonly Runner[], rounds: number): readonly Runner[];
  /** Whether another process is to be spent on these although the time is up; not where left out. */
  goesOn?(runners: readonly Runner[]): boolean;
}

export interface Raced {
  readonly contestants: readonly Contestant[];
  /** Contestants that did not fail, in the order of the field. */
  readonly runners: readonly Runner[];
  /** All that is out: with what failed before the race. */
  readonly failed: readonly Failure[];
  readonly processes: readonly TimedProcess[];
  /** Times that all who were still in the race were timed. */
  readonly rounds: number;
}

const failureOf = ({ configuration }: Contestant, reason: string): Failure => ({
  ...{ configuration, reason },
  outcome: reason.startsWith('took longer') ? 'timeout' : 'run-error',
});

/**
 * Times contestants until the question is answered, or the time is up. One that fails is out, and the others are timed once
 * more without it: they were timed alone that time.
 * @param isTimeLeft whether more processes than the least may be spent
 * @param note is told of each process as soon as it has ended
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
  const isOver = () => isAnswered || (running.length === 0 && rounds >= leastProcesses);
  while (!isOver() && rounds < mostProcesses && misses < MOST_MISSES) {
    const isEnough = rounds >= leastProcesses && !isTimeLeft();
    if (isEnough && question.goesOn?.(runnersOf(running)) !== true) break;
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
    if (lost.length > 0 && (rounds < leastProcesses || isTimeLeft()) && running.length > 0) continue;
    // A process in which something is missing pairs nothing with nothing.
    const isWhole =
      (!hasDefault || timed.every(({ defaultSeconds }) => defaultSeconds !== null)) &&
      running.every(({ name }) => timed.some(({ seconds }) => seconds.has(name)));
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
