// Whether what a record says of an operation holds in the running program. Pure.
import type { ModuleTimes } from '../../src/measure/compare-modules.ts';
import { sumOf, undisturbed } from '../../src/measure/statistics.ts';
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
    const times = pairs.map((pair) => pair.map(({ dispatches }) => own.map((name) => dispatches.get(name))));
    const areSame = times.every(([stock, tuned]) =>
      own.every((_, i) => stock![i] !== undefined && stock![i].calls === tuned![i]?.calls),
    );
    if (!areSame) return [];
    const [stock, tuned] = [0, 1].map((which) =>
      undisturbed(times.map((pair) => sumOf(pair[which]!.map((time) => time!.seconds)))),
    );
    return [{ workload, recorded, inProgram: stock! / tuned! }];
  });
}
