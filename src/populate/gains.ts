// Estimates the gain of tuning a workload from the gains of similar workloads. Pure.
import { isDefault } from '../backend/configuration.ts';
import { sumOf } from '../measure/statistics.ts';
import type { TuningRecord } from '../store/store.ts';

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
export function medianOf(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}
