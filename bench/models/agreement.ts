// Whether what a record says of an operation holds in the running program. Pure.
import type { ModuleTimes } from '../../src/measure/compare-modules.ts';
import { median } from '../../src/measure/statistics.ts';
import type { Explanation } from '../../src/report/explain.ts';
import type { Root } from './contractions.ts';
import { isConfigured, operationsOf, whyNotApplied } from './coverage.ts';

/** One workload that was injected. */
export interface Agreement {
  readonly workload: string;
  /** How many times as fast as the default: as its record has it, and by the runtime's statistics of the program. */
  readonly recorded: number;
  readonly inProgram: number;
}

/**
 * The workloads whose dispatches both programs call equally often under the same names; data tiling makes others of them.
 * @param pairs of processes
 */
export function agreementsOf(
  pairs: readonly (readonly [stock: ModuleTimes, tuned: ModuleTimes])[],
  roots: ReadonlyMap<string, Root>,
  { operations }: Explanation,
): Agreement[] {
  const names = new Map<string, string[]>();
  for (const [name, { workload }] of roots)
    if (workload !== null) names.set(workload, [...(names.get(workload) ?? []), name]);
  return [...names].flatMap(([workload, own]): Agreement[] => {
    const injected = operationsOf(workload, operations).filter(
      (one) => isConfigured(one) && whyNotApplied(one) === null,
    );
    const recorded = injected[0]?.speedup?.ratio;
    // One workload in several places may have several records.
    if (recorded === undefined || injected.some(({ speedup }) => speedup?.ratio !== recorded)) return [];
    const ratios = pairs.map(([stock, tuned]) => {
      const times = own.map((name) => [stock.dispatches.get(name), tuned.dispatches.get(name)] as const);
      if (times.some(([a, b]) => a === undefined || a.calls !== b?.calls)) return NaN;
      const sum = (which: 0 | 1) => times.reduce((total, pair) => total + pair[which]!.seconds, 0);
      return sum(0) / sum(1);
    });
    const inProgram = median(ratios);
    return ratios.some(Number.isNaN) ? [] : [{ workload, recorded, inProgram }];
  });
}
