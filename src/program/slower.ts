// What configurations make of their own dispatches in a program, by the runtime's statistics. Pure.
import { comparisonOf, type ModuleComparison } from '../measure/compare-modules.ts';
import type { DispatchTimes } from '../measure/dispatch-times.ts';

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
 * What can be said of the workloads of a program. Data tiling adds dispatches and counts others anew, so a dispatch is
 * known by its name without the number; what is not the same in both programs, or holds several workloads, is passed
 * over.
 * @param pairs of processes
 * @param dispatches for each workload by its key, the names of those in the tuned program that have its configuration
 */
export function comparedWorkloads(
  pairs: readonly (readonly [stock: DispatchTimes, tuned: DispatchTimes])[],
  dispatches: ReadonlyMap<string, readonly string[]>,
): ComparedWorkload[] {
  const kindsOf = new Map(
    [...dispatches].map(([key, names]) => [key, [...new Set(names.map(withoutNumber))]]),
  );
  const isShared = (kind: string) => [...kindsOf.values()].filter((kinds) => kinds.includes(kind)).length > 1;
  const areSame = pairs.every(([stock, tuned]) => namesOf(stock) === namesOf(tuned));
  return [...kindsOf].flatMap(([key, kinds]) => {
    if (kinds.length === 0 || kinds.some(isShared)) return [];
    const times = pairs.map(([stock, tuned]) => [sumOf(stock, kinds), sumOf(tuned, kinds)] as const);
    const [{ calls }] = times[0] ?? [{ calls: 0 }];
    if (calls === 0 || times.some((pair) => pair.some((one) => one.calls !== calls))) return [];
    const comparison = comparisonOf(times.map(([stock, tuned]) => [stock.seconds, tuned.seconds]));
    return [{ key, comparison, calls, processes: pairs.length, areSame }];
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

const withoutNumber = (name: string) => name.replace(/_dispatch_\d+/, '_dispatch');

const namesOf = (times: DispatchTimes) => [...times.keys()].sort().join(' ');

function sumOf(times: DispatchTimes, kinds: readonly string[]) {
  let [seconds, calls] = [0, 0];
  for (const [name, time] of times) {
    if (!kinds.includes(withoutNumber(name))) continue;
    seconds += time.seconds;
    calls += time.calls;
  }
  return { seconds, calls };
}
