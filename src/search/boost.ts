// Trains boosted regression trees by least squares, on histograms of the features.
import { valueAt, type Forest, type Tree } from './forest.ts';
import type { Random } from './strategy.ts';

export interface Sample {
  readonly x: readonly number[];
  readonly y: number;
  readonly weight: number;
}

export interface BoostOptions {
  readonly trees: number;
  readonly depth: number;
  readonly rate: number;
  /** Least total weight of samples in a leaf. */
  readonly leastWeight: number;
  readonly sampleShare: number;
  readonly featureShare: number;
  /** Regularisation: added to the weight of each leaf, so that the value of a small leaf is small. */
  readonly shrinkage: number;
}

export const BOOST: BoostOptions = {
  ...{ trees: 200, depth: 6, rate: 0.08, leastWeight: 8 },
  ...{ sampleShare: 0.7, featureShare: 0.5, shrinkage: 4 },
};

/** Number of ranges of each feature's histogram. */
const RANGES = 128;

/** The thresholds between ranges of one feature. */
function thresholdsOf(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  const cuts = new Set<number>();
  for (let i = 1; i < RANGES; i++) {
    const at = Math.floor((i * sorted.length) / RANGES);
    const [before, after] = [sorted[Math.max(0, at - 1)]!, sorted[at]!];
    // A threshold is halfway between two values of samples.
    const next = after > before ? after : sorted.find((one) => one > after);
    if (next !== undefined) cuts.add(rounded((Math.min(before, after) + next) / 2));
  }
  return [...cuts].sort((a, b) => a - b);
}

const rounded = (value: number): number => Number(value.toPrecision(5));

/** @param samples one or more, with equally many features */
export function boost(samples: readonly Sample[], options: BoostOptions, random: Random): Forest {
  const features = samples[0]!.x.length;
  const thresholds = Array.from({ length: features }, (_, f) => thresholdsOf(samples.map(({ x }) => x[f]!)));
  const ranges = thresholds.map((own, f) =>
    Uint8Array.from(samples, ({ x }) => own.filter((threshold) => x[f]! >= threshold).length),
  );
  const weights = Float64Array.from(samples, ({ weight }) => weight);
  const total = samples.reduce((sum, { weight }) => sum + weight, 0);
  const base = samples.reduce((sum, { y, weight }) => sum + y * weight, 0) / total;
  const residual = Float64Array.from(samples, ({ y }) => y - base);
  const trees: Tree[] = [];
  for (let t = 0; t < options.trees; t++) {
    const chosen = samples.flatMap((_, i) => (random() < options.sampleShare ? [i] : []));
    const some = thresholds.flatMap((own, f) =>
      own.length > 0 && random() < options.featureShare ? [f] : [],
    );
    const weighted = residual.map((one, i) => one * weights[i]!);
    const tree = grow({ ranges, thresholds, weights, weighted }, chosen, some, options);
    trees.push(tree);
    for (const [i, { x }] of samples.entries()) residual[i]! -= valueAt(tree, x);
  }
  return { base: rounded(base), trees };
}

/** Samples of one tree, as columns. */
interface Columns {
  /** For each feature, the range of each sample. */
  readonly ranges: readonly Uint8Array[];
  readonly thresholds: readonly (readonly number[])[];
  readonly weights: Float64Array;
  /** Residuals times weights. */
  readonly weighted: Float64Array;
}

function grow(
  columns: Columns,
  chosen: readonly number[],
  features: readonly number[],
  { depth, rate, leastWeight, shrinkage }: BoostOptions,
): Tree {
  const { ranges, thresholds } = columns;
  const [feature, value, below] = [[0], [0], [0]];
  const open: { node: number; own: readonly number[]; level: number }[] = [
    { node: 0, own: chosen, level: 0 },
  ];
  while (open.length > 0) {
    const { node, own, level } = open.shift()!;
    const sums = sumsOf(own, columns);
    const split = level < depth ? bestSplit(own, columns, sums, features, leastWeight, shrinkage) : null;
    if (split === null) {
      feature[node] = -1;
      value[node] = rounded((rate * sums.sum) / (sums.weight + shrinkage));
      continue;
    }
    const first = feature.length;
    feature.push(0, 0);
    value.push(0, 0);
    below.push(0, 0);
    feature[node] = split.feature;
    value[node] = thresholds[split.feature]![split.at]!;
    below[node] = first;
    const isBelow = (i: number) => ranges[split.feature]![i]! <= split.at;
    open.push({ node: first, own: own.filter(isBelow), level: level + 1 });
    open.push({ node: first + 1, own: own.filter((i) => !isBelow(i)), level: level + 1 });
  }
  return { feature, value, below };
}

interface Sums {
  readonly sum: number;
  readonly weight: number;
}

function sumsOf(own: readonly number[], { weights, weighted }: Columns): Sums {
  let [sum, weight] = [0, 0];
  for (const i of own) {
    sum += weighted[i]!;
    weight += weights[i]!;
  }
  return { sum, weight };
}

function bestSplit(
  own: readonly number[],
  { ranges, thresholds, weights, weighted }: Columns,
  all: Sums,
  features: readonly number[],
  leastWeight: number,
  shrinkage: number,
): { readonly feature: number; readonly at: number } | null {
  const scoreOf = (sum: number, weight: number) => (sum * sum) / (weight + shrinkage);
  const least = scoreOf(all.sum, all.weight) + 1e-9;
  let best: { readonly feature: number; readonly at: number; readonly score: number } | null = null;
  for (const f of features) {
    const count = thresholds[f]!.length + 1;
    const [sumIn, weightIn] = [new Float64Array(count), new Float64Array(count)];
    const column = ranges[f]!;
    for (const i of own) {
      const range = column[i]!;
      sumIn[range]! += weighted[i]!;
      weightIn[range]! += weights[i]!;
    }
    let [sum, weight] = [0, 0];
    for (let at = 0; at < count - 1; at++) {
      sum += sumIn[at]!;
      weight += weightIn[at]!;
      if (weight < leastWeight || all.weight - weight < leastWeight) continue;
      const score = scoreOf(sum, weight) + scoreOf(all.sum - sum, all.weight - weight);
      if (score > least && (best === null || score > best.score)) best = { feature: f, at, score };
    }
  }
  return best;
}
