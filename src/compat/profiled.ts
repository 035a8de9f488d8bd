// The measurements of workloads in the database.
import { backendNamed, configurationKey } from '../backend/index.ts';
import { spaceSize } from '../search/space.ts';
import type { Site } from '../site/site.ts';
import type { Store, Trial } from '../store/store.ts';
import { placeOf, subjectOf } from '../store/subject.ts';
import { recordOf } from '../tuning/earlier.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { measurementsOf, type Decided, type Measurements } from './measurement.ts';
import { operationsOf, type ProfiledOperation } from './operation.ts';

/** One workload, with its decision and its trials. */
export interface Profiled {
  readonly key: string;
  readonly operation: ProfiledOperation;
  /** The decision of builds; null without a record. */
  readonly decided: Decided | null;
  /** Oldest first. */
  readonly trials: readonly Trial[];
  readonly measurements: Measurements;
}

/**
 * @param slices of split reductions, a flag of the compiler; null for none
 * @param earlier number of trials to leave out, by the key of the workload
 */
export function profiled(
  works: readonly Work[],
  store: Store,
  site: Site,
  slices: number | null,
  earlier: ReadonlyMap<string, number> = new Map(),
): Profiled[] {
  const place = placeOf(site);
  const operations = operationsOf(works, slices);
  return works.map((work, i) => {
    const { key, workload } = work;
    const trials = store.trials(subjectOf(work, site)).slice(earlier.get(key) ?? 0);
    const known = recordOf(store, { workload: key, ...place });
    // The decision is left out if this run has not tried its configuration.
    const isOf = ({ configuration }: Trial) =>
      known !== null && configurationKey(configuration) === configurationKey(known.configuration);
    const decided = earlier.has(key) && !trials.some(isOf) ? null : known;
    const operation = operations[i]!;
    const measurements = measurementsOf({ operation, workload, place }, decided, trials);
    return { key, operation, decided, trials, measurements };
  });
}

/** Points of the search spaces, illegal points included. */
export const spaceSizes = (works: readonly Work[], site: Site): number[] =>
  works.map(({ workload, options }) => {
    const space = backendNamed(site.target.key)?.tuning(workload).space(options);
    return space === undefined ? 0 : spaceSize(space);
  });
