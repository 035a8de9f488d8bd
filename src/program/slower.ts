// What configurations make of their own dispatches in a program, by the runtime's statistics. Pure.
import { comparisonOf, type ModuleComparison } from '../measure/compare-modules.ts';
import type { DispatchTimes } from '../measure/dispatch-times.ts';
import { kindOf, sameDispatches } from './same-dispatches.ts';

/** What is below this ratio to stock has got slower, by more than two that are the same differ. */
export const LEAST_RATIO = 0.98;

/** Beyond noise: the whole interval says so, and it is no trifle. */
export const isSlower = ({ ratio, high }: Pick<ModuleComparison, 'ratio' | 'high'>): boolean =>
  high < 1 && ratio < LEAST_RATIO;

/** A workload's dispatches in the program with its configuration, next to those of stock's. */
export interface ComparedWorkload {
  readonly key: string;
  /** Of all its dispatches in one call of the function. */
  readonly comparison: ModuleComparison;
  /** Seconds of the same by default, in each process. */
  readonly stock: readonly number[];
  /** How many of them one call of the function runs. */
  readonly calls: number;
  /** Pairs of processes that it is known from. */
  readonly processes: number;
  /** Whether both programs have the very same dispatches. */
  readonly areSame: boolean;
}

/** A workload whose dispatches take longer in the program with its configuration than with stock's. */
export interface SlowerWorkload extends Pick<ComparedWorkload, 'key' | 'comparison'> {
  /**
   * Whether that says something of the configuration beyond this program: both programs have the very same dispatches, and
   * the loss is larger than noise in any case.
   */
  readonly isCertain: boolean;
}

/**
 * What can be said of the workloads of a program. Dispatches that are not known to be the same one by one are compared with all
 * that are called alike. What is not the same in both programs, or holds several workloads, is passed over.
 * @param pairs of processes
 * @param dispatches for each workload by its key, the names of those in the tuned program that have its configuration
 */
export function comparedWorkloads(
  pairs: readonly (readonly [stock: DispatchTimes, tuned: DispatchTimes])[],
  dispatches: ReadonlyMap<string, readonly string[]>,
): ComparedWorkload[] {
  if (pairs.length === 0) return [];
  const same = sameDispatches(...pairs[0]!);
  const areSame = pairs.every(([stock, tuned]) => namesOf(stock) === namesOf(tuned));
  const isShared = (name: string, like: (name: string) => string) =>
    [...dispatches.values()].filter((names) => names.some((one) => like(one) === like(name))).length > 1;
  return [...dispatches].flatMap(([key, all]) => {
    const names = all.filter((name) => pairs[0]![1].has(name));
    const isKnown = names.every((name) => same.has(name));
    const like = isKnown ? (name: string) => name : kindOf;
    if (names.some((name) => isShared(name, like))) return [];
    const tunedNames = new Set(names.map(like));
    const stockNames = isKnown ? new Set(names.map((name) => same.get(name)!)) : tunedNames;
    const sums = pairs.map(([stock, tuned]) => [
      sumOf(stock, (name) => stockNames.has(like(name))),
      sumOf(tuned, (name) => tunedNames.has(like(name))),
    ]);
    const calls = sums[0]![0]!.calls;
    if (calls === 0 || sums.some((pair) => pair.some((one) => one.calls !== calls))) return [];
    const comparison = comparisonOf(sums.map(([stock, tuned]) => [stock!.seconds, tuned!.seconds]));
    const stock = sums.map(([one]) => one!.seconds);
    return [{ key, comparison, stock, calls, processes: pairs.length, areSame }];
  });
}

/** Those that are slower beyond noise. */
export const slowerWorkloads = (...program: Parameters<typeof comparedWorkloads>): SlowerWorkload[] =>
  comparedWorkloads(...program)
    .filter(({ comparison }) => isSlower(comparison))
    .map(({ key, comparison, areSame }) => ({
      key,
      comparison,
      isCertain: areSame && comparison.high < LEAST_RATIO,
    }));

const namesOf = (times: DispatchTimes) => [...times.keys()].sort().join(' ');

function sumOf(times: DispatchTimes, isOwn: (name: string) => boolean) {
  let [seconds, calls] = [0, 0];
  for (const [name, time] of times) {
    if (!isOwn(name)) continue;
    seconds += time.seconds;
    calls += time.calls;
  }
  return { seconds, calls };
}
