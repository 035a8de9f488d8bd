// Compares the dispatches of configurations with stock's in the running program, by the runtime's statistics. Pure.
import { comparisonOf, type ModuleComparison } from '../measure/compare-modules.ts';
import type { DispatchTimes } from '../backend/meter.ts';

/** A ratio below this is a loss. Two equal programs differ by less. */
export const LEAST_RATIO = 0.98;

/** Whether a loss is beyond noise and not negligible. */
export const isSlower = ({ ratio, high }: Pick<ModuleComparison, 'ratio' | 'high'>): boolean =>
  high < 1 && ratio < LEAST_RATIO;

/** Times of a workload's dispatches, stock against tuned. */
export interface ComparedWorkload {
  readonly key: string;
  /** All dispatches of the workload in one call of the function together. */
  readonly comparison: ModuleComparison;
  /** Seconds of stock's dispatches, in each process. */
  readonly stock: readonly number[];
  /** Calls of its dispatches in one call of the function. */
  readonly calls: number;
  /** Number of pairs of processes. */
  readonly processes: number;
  /** Whether a loss counts beyond this program: both programs have exactly the same dispatches, and the interval lies below the limit. */
  readonly isCertain: boolean;
}

/** A workload whose dispatches are slower with its configuration. */
export type SlowerWorkload = Pick<ComparedWorkload, 'key' | 'comparison' | 'isCertain'>;

/**
 * Compares each workload's dispatches. Dispatches without a match in stock are compared by kind: all dispatches whose names differ only
 * in the number. Workloads that share dispatches, or whose calls differ between the programs, are left out.
 * @param pairs of processes
 * @param dispatches names of the tuned program's dispatches with the workload's configuration, by workload key
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
    const isCertain = areSame && comparison.high < LEAST_RATIO;
    return [{ key, comparison, stock, calls, processes: pairs.length, isCertain }];
  });
}

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

/**
 * Maps names of the second program's dispatches to names of the first's. Data tiling adds dispatches and so changes the numbers in
 * names, but keeps the order. Names that differ only in their number are therefore matched in order, if both programs have equally many
 * of them with equal numbers of calls. Other dispatches are left out.
 */
export function sameDispatches(first: DispatchTimes, second: DispatchTimes): ReadonlyMap<string, string> {
  const alike = byKind(first);
  return new Map(
    [...byKind(second)].flatMap(([kind, names]) => {
      const others = alike.get(kind) ?? [];
      const areSame =
        others.length === names.length &&
        names.every((name, i) => second.get(name)!.calls === first.get(others[i]!)!.calls);
      return areSame ? names.map((name, i) => [name, others[i]!] as const) : [];
    }),
  );
}

const NUMBER = /(?<=_dispatch_)\d+/;

/** Name of a dispatch without the number. */
const kindOf = (name: string): string => name.replace(NUMBER, '');

/** Names of each kind, in the order of their numbers. */
function byKind(times: DispatchTimes): Map<string, string[]> {
  const numberOf = (name: string) => Number(NUMBER.exec(name)?.[0] ?? 0);
  const names = [...times.keys()].sort((a, b) => numberOf(a) - numberOf(b));
  return Map.groupBy(names, kindOf);
}
