// The measurements of workloads in the database: each is one row of a report.
import { backendNamed, configurationKey } from '../backend/index.ts';
import { DEFAULT_CONFIGURATION, isDefault, type Configuration } from '../backend/configuration.ts';
import { spaceSize } from '../search/space.ts';
import type { Site } from '../site/site.ts';
import type { RecordKey, Store, Trial, TuningRecord } from '../store/store.ts';
import { placeOf, subjectOf } from '../store/subject.ts';
import { pick } from '../system/data.ts';
import { recordOf } from '../tuning/earlier.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import type { Workload } from '../workload/workload.ts';
import { operationsOf, type ProfiledOperation } from './operation.ts';

export interface Measurement {
  readonly operation: ProfiledOperation;
  readonly workload: Workload;
  readonly configuration: Configuration;
  /** `Not verified` for timed trials, and for the default, which is the reference. */
  readonly verification: 'SUCCESS' | 'FAILED' | 'Not verified';
  /** Median seconds of one execution; null if not measured. */
  readonly seconds: number | null;
  /** Default time divided by this time. `low` and `high` are its 99% confidence interval, for records only. */
  readonly ratio: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly place: Pick<RecordKey, 'target' | 'device' | 'compiler'>;
  /** Why it failed; null for success. */
  readonly message: string | null;
}

export type Decided = Pick<TuningRecord, 'configuration' | 'evidence'>;

type About = Pick<Measurement, 'operation' | 'workload' | 'place'>;

interface Measurements {
  readonly stock: Measurement;
  /** Other trials, the best first. Of repeated trials the last. */
  readonly others: readonly Measurement[];
  /** The decision; null for the default or none. */
  readonly best: Measurement | null;
}

/** @param trials in chronological order */
export function measurementsOf(
  about: About,
  decided: Decided | null,
  trials: readonly Trial[],
): Measurements {
  const own = decided !== null && !isDefault(decided.configuration) ? decided : null;
  const latest = new Map(trials.map((trial) => [configurationKey(trial.configuration), trial]));
  const take = (configuration: Configuration) => {
    const key = configurationKey(configuration);
    const trial = latest.get(key);
    latest.delete(key);
    return trial;
  };
  const timed = take(DEFAULT_CONFIGURATION);
  if (own !== null) take(own.configuration);
  const seconds = decided?.evidence.defaultSeconds ?? timed?.seconds ?? null;
  const ratio = seconds === null ? null : 1;
  return {
    stock: {
      ...{ ...about, configuration: DEFAULT_CONFIGURATION, verification: 'Not verified' },
      ...{ seconds, ratio, low: null, high: null, message: timed?.message ?? null },
    },
    others: [...latest.values()]
      .sort((a, b) => (b.ratio ?? 0) - (a.ratio ?? 0))
      .map(({ configuration, outcome, seconds, ratio, message }) => ({
        ...{ ...about, configuration, seconds, ratio, low: null, high: null, message },
        verification: outcome === 'wrong-result' ? 'FAILED' : 'Not verified',
      })),
    best: own && {
      ...{
        ...about,
        configuration: own.configuration,
        ...pick(own.evidence, ['seconds', 'ratio', 'low', 'high']),
      },
      // A decision requires a verified output.
      ...{ verification: 'SUCCESS', message: null },
    },
  };
}

export interface Profiled extends Measurements {
  readonly key: string;
  readonly operation: ProfiledOperation;
  /** The decision of builds; null without a record. */
  readonly decided: Decided | null;
  /** Oldest first. */
  readonly trials: readonly Trial[];
}

/**
 * @param slices see `splitKSlices`
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
    return {
      key,
      operation,
      decided,
      trials,
      ...measurementsOf({ operation, workload, place }, decided, trials),
    };
  });
}

/** Points of the search spaces, illegal points included. */
export const spaceSizes = (works: readonly Work[], site: Site): number[] =>
  works.map(({ workload, options }) => {
    const space = backendNamed(site.target.key)?.tuning(workload).space(options);
    return space === undefined ? 0 : spaceSize(space);
  });

/** All measurements in one list, the best last. */
export const allOf = ({ stock, others, best }: Measurements): Measurement[] => [
  stock,
  ...others.toReversed(),
  ...(best === null ? [] : [best]),
];

/** Floating-point operations per second in 10^9; null if not measured. */
export const gflopsOf = ({
  operation,
  seconds,
}: Pick<Measurement, 'operation' | 'seconds'>): number | null =>
  seconds === null ? null : operation.flops / seconds / 1e9;

/** Unique name of a configuration, as one word. */
export function configurationName(configuration: Configuration): string {
  if (isDefault(configuration)) return 'tile_config_default';
  const key = configurationKey(configuration).replace(/^tile /, '');
  return `tile_config_${key.replaceAll(/[ =]/g, '_').replaceAll(',', 'x')}`;
}

export const dispatchName = ({ operation, configuration }: Measurement): string =>
  `${operation.name}_${configurationName(configuration)}`;

/** Number of timed candidates, without the default. */
export const timedCandidates = (all: readonly Measurement[]): number =>
  all.filter(({ configuration, seconds }) => seconds !== null && !isDefault(configuration)).length;
