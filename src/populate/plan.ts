// Plans a run: known, duplicate and skipped workloads, and the workloads to tune in order. Pure.
import { isDefault } from '../backend/configuration.ts';
import { sumOf } from '../measure/statistics.ts';
import type { TuningRecord } from '../store/store.ts';
import type { TuningResult } from '../tuning/result.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { workloadFlops } from '../workload/workload.ts';
import type { Shape } from './shape.ts';

export type Standing =
  | { readonly kind: 'new' }
  /** A search found no gain and did not end. It continues. */
  | { readonly kind: 'unfinished' }
  | { readonly kind: 'known' }
  /** A whole dispatch, which is tuned in its program. */
  | { readonly kind: 'in program' }
  | { readonly kind: 'skipped'; readonly reason: string };

export interface Answer {
  readonly work: Work;
  readonly standing: Standing;
  /** Null without a record. */
  readonly result: TuningResult | null;
}

/** A requested workload at one site. */
export interface Asked extends Answer {
  /** Index of the site among those of the run. */
  readonly site: number;
  /** Source of the request: a model, a line of a list, a sweep, or the misses of builds. */
  readonly source: string;
  /** The shape, if the workload is not surveyed yet. */
  readonly shape?: Shape;
}

export interface Planned extends Asked {
  /** Estimated speed-up over the default. */
  readonly likelyGain: number;
  /** Estimated saving, in arithmetic operations, for one run of all programs with this workload. */
  readonly likelySaving: number;
}

export const isUnfinished = ({ standing }: Pick<Answer, 'standing'>): boolean =>
  standing.kind === 'unfinished';

export interface LeftOut {
  readonly what: string;
  readonly site: number;
  readonly source: string;
  readonly reason: string;
}

/** A requested workload, or the reason why a request has none. */
export type Requested = Asked | LeftOut;

export const isAsked = (one: Requested): one is Asked => 'work' in one;

export interface Plan {
  /** Workloads to tune, the largest estimated saving first. */
  readonly todo: readonly Planned[];
  /** Workloads with a record. */
  readonly known: readonly Asked[];
  readonly duplicates: number;
  readonly skipped: readonly LeftOut[];
  /** Estimated seconds for each workload. */
  readonly secondsEach: number;
  /** Estimated number of trials for each workload. */
  readonly trialsEach: number;
  /** Whether the estimates come from records of this device. */
  readonly isMeasured: boolean;
}

/** Estimated seconds and trials of a search without records. */
const [LIKELY_SECONDS, LIKELY_TRIALS] = [40, 96];

/**
 * Plans a run. A repeated request is tuned once, and its counts add up.
 * @param recordsOf the records of a site
 */
export function planPopulation(
  requests: readonly Requested[],
  recordsOf: (site: number) => readonly TuningRecord[],
): Plan {
  const asked = requests.filter(isAsked);
  const byKey = new Map<string, Asked>();
  for (const one of asked) {
    const key = `${one.site} ${one.work.key}`;
    const first = byKey.get(key);
    if (first === undefined) {
      byKey.set(key, one);
      continue;
    }
    const count = first.work.count + one.work.count;
    // A surveyed request replaces a shape, which would need a survey.
    const surveyed = first.shape === undefined ? first : one;
    byKey.set(key, { ...surveyed, source: first.source, work: { ...surveyed.work, count } });
  }
  const each = [...byKey.values()];
  const sites = [...new Set(each.map(({ site }) => site))];
  const records = new Map(sites.map((site) => [site, recordsOf(site)]));
  const gains = new Map(sites.map((site) => [site, likelyGains(records.get(site)!)]));
  const searches = [...records.values()].flat().map(({ evidence }) => evidence);
  const seconds = medianOf(searches.map(({ tuningSeconds }) => tuningSeconds));
  const todo = each.flatMap((one): Planned[] => {
    if (one.standing.kind !== 'new' && !isUnfinished(one)) return [];
    const likelyGain = gains.get(one.site)!(one.work.key);
    const operations = workloadFlops(one.work.workload) * one.work.count;
    const likelySaving = operations * (1 - 1 / Math.max(LEAST_GAIN, likelyGain));
    return [{ ...one, likelyGain, likelySaving }];
  });
  return {
    todo: todo.toSorted((a, b) => b.likelySaving - a.likelySaving),
    known: each.filter(({ standing }) => standing.kind === 'known'),
    duplicates: asked.length - each.length,
    skipped: [
      ...requests.filter((one): one is LeftOut => !isAsked(one)),
      ...each.flatMap(({ standing, work, site, source }) =>
        standing.kind === 'skipped' ? [{ what: work.key, site, source, reason: standing.reason }] : [],
      ),
    ],
    secondsEach: seconds ?? LIKELY_SECONDS,
    trialsEach: medianOf(searches.map(({ trials }) => trials)) ?? LIKELY_TRIALS,
    isMeasured: seconds !== null,
  };
}

/** Least estimated gain in the order. Without it, large workloads with an estimate of 1 would come last. */
const LEAST_GAIN = 1.01;

export const expectedSeconds = ({ todo, secondsEach }: Pick<Plan, 'todo' | 'secondsEach'>): number =>
  todo.length * secondsEach;

interface Pace {
  /** Number of searches that have ended. */
  readonly measured: number;
  /** Trials of all searches, and the seconds since the first search began. */
  readonly trials: number;
  readonly seconds: number;
}

/** Fewer searches predict less than earlier records. */
const ENOUGH_SEARCHES = 3;

/** Estimated seconds of one search: by this run, else by earlier records, which a busy machine does not reach. */
export function secondsOfSearch(
  { secondsEach, trialsEach }: Pick<Plan, 'secondsEach' | 'trialsEach'>,
  { measured, trials, seconds }: Pace,
): number {
  if (measured >= ENOUGH_SEARCHES) return seconds / measured;
  // The first batches have the set-up and the default in their time.
  return trials < trialsEach / 2 ? secondsEach : Math.max(secondsEach, (trialsEach * seconds) / trials);
}

/** Number of nearest records that count. */
const NEIGHBOURS = 3;

/** Largest distance of a neighbour: the sum over dimensions of the absolute base-2 logarithm of the size ratio. */
const FARTHEST = 5;

/** Estimate without any record. */
const LIKELY_GAIN = 1.5;

const SIZE = /(?<= [bmnk]\d*)=(\d+)(?= )/g;

/** A workload's key without sizes, and the base-2 logarithms of the sizes. */
function pointOf(key: string) {
  const alone = key.replace(/ in=[0-9a-f]+$/, '');
  const sizes = [...alone.matchAll(SIZE)].map(([, size]) => Math.log2(Number(size)));
  return { family: alone.replaceAll(SIZE, ''), sizes };
}

/**
 * Estimates the speed-up of a workload over the default: the weighted mean of its nearest records with equal form and types, else
 * the median of all records.
 * @param records of one target, device and compiler
 */
export function likelyGains(
  records: readonly Pick<TuningRecord, 'workload' | 'configuration' | 'evidence'>[],
): (key: string) => number {
  const known = records.map(({ workload, configuration, evidence }) => ({
    ...pointOf(workload),
    gain: isDefault(configuration) ? 1 : evidence.ratio,
  }));
  const families = Map.groupBy(known, ({ family }) => family);
  const otherwise = medianOf(known.map(({ gain }) => gain)) ?? LIKELY_GAIN;
  return (key) => {
    const { family, sizes } = pointOf(key);
    const nearest: { distance: number; gain: number }[] = [];
    // A sweep of thousands of shapes asks about thousands of records.
    for (const other of families.get(family) ?? []) {
      let distance = 0;
      for (let i = 0; i < sizes.length; i++) distance += Math.abs(sizes[i]! - other.sizes[i]!);
      if (distance > FARTHEST || distance >= (nearest[NEIGHBOURS - 1]?.distance ?? Infinity)) continue;
      nearest.push({ distance, gain: other.gain });
      nearest.sort((a, b) => a.distance - b.distance);
      nearest.length = Math.min(nearest.length, NEIGHBOURS);
    }
    if (nearest.length === 0) return otherwise;
    // A factor of 2 in one dimension divides the weight by 4.
    const weights = nearest.map(({ distance }) => 4 ** -distance);
    return sumOf(nearest.map(({ gain }, i) => gain * weights[i]!)) / sumOf(weights);
  };
}

/** The lower median; null without numbers. */
function medianOf(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}

/** One of the machines that divide the work of a run: its number from 1, and the number of all. */
export interface Shard {
  readonly number: number;
  readonly count: number;
}

/**
 * The units of a shard, in their order. Units with one key share a shard.
 * @param keyOf key of a unit; only the order of the keys counts, so they may have a common beginning that differs between machines
 */
export function unitsOfShard<T>(
  units: readonly T[],
  keyOf: (unit: T) => string,
  { number, count }: Shard,
): T[] {
  // Slices of the sorted keys are even. A new unit moves at most one other across each boundary, so a shard's caches stay useful.
  // Neighbours by name often have shapes in common, which one shard tunes once.
  const keys = [...new Set(units.map(keyOf))].toSorted();
  const own = new Set(keys.filter((_, i) => Math.floor((i * count) / keys.length) === number - 1));
  return units.filter((unit) => own.has(keyOf(unit)));
}
