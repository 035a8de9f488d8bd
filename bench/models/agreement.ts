// Compares the gain in a record with the gain in the running program. Pure.
import type { ModuleTimes } from '../../src/measure/compare-modules.ts';
import { sameDispatches } from '../../src/program/slower.ts';
import { comparedWorkloads } from '../../src/program/slower.ts';
import type { ExplainedOperation, Explanation } from '../../src/report/explain.ts';
import type { Roots } from '../shared/contractions.ts';

/** One injected workload. */
export interface Agreement {
  readonly workload: string;
  /** Default time over tuned time: from the record, and from the statistics of the running program. */
  readonly recorded: number;
  readonly inProgram: number;
}

/**
 * Compares the workloads whose dispatches are in both programs.
 * @param pairs of processes
 */
export function agreementsOf(
  pairs: readonly (readonly [stock: ModuleTimes, tuned: ModuleTimes])[],
  roots: Roots,
  { operations }: Explanation,
): Agreement[] {
  if (pairs.length === 0) return [];
  const dispatches = pairs.map(([stock, tuned]) => [stock.dispatches, tuned.dispatches] as const);
  const [stock, tuned] = dispatches[0]!;
  const tunedNames = sameDispatches(tuned, stock);
  const stockNames = new Map<string, string[]>();
  for (const name of stock.keys()) {
    const workload = roots.get(name);
    if (workload) stockNames.set(workload, [...(stockNames.get(workload) ?? []), name]);
  }
  return [...stockNames].flatMap(([workload, own]): Agreement[] => {
    const all = operationsOf(workload, operations);
    const injected = all.filter(isApplied);
    const recorded = injected[0]?.speedup?.ratio;
    // A workload that occurs several times may have several records.
    if (recorded === undefined || all.some(({ speedup }) => speedup?.ratio !== recorded)) return [];
    const names = own.flatMap((name) => tunedNames.get(name) ?? []);
    if (names.length < own.length) return [];
    return comparedWorkloads(dispatches, new Map([[workload, names]])).map(({ comparison }) => ({
      workload,
      recorded,
      inProgram: comparison.seconds[0] / comparison.seconds[1],
    }));
  });
}

/** The operations of a workload: with the same context if there are any, otherwise with any context. */
function operationsOf(workload: string, operations: readonly ExplainedOperation[]): ExplainedOperation[] {
  const alike = (like: (workload: string) => string) =>
    operations.filter((one) => one.workload !== null && like(one.workload) === like(workload));
  const own = alike((key) => key.replace(' rhs=constant', ''));
  return own.length > 0 ? own : alike((key) => key.replace(/ (?:rhs=constant|in=[0-9a-f]+)/g, ''));
}

const isApplied = ({ configuration, landed }: ExplainedOperation): boolean =>
  configuration !== null && configuration.kind !== 'default' && landed !== false;
