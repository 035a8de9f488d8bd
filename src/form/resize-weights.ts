// The weights of a resized image: for each dimension, how much each line of the image adds to each line of the result.
import type { Tensor } from '../workload/tensor.ts';
import { INDEX, type Step } from './body.ts';
import { evaluating } from './evaluate.ts';

/** Pixels of a result that are made of pixels of an image. */
export interface PixelSum {
  readonly image: Tensor;
  readonly result: Tensor;
  /** Steps on the place of a pixel in the result, one index for each dimension. */
  readonly before: readonly Step[];
  /** Pixels of the image that are read. For each dimension, the number of an index or of a step. */
  readonly reads: readonly (readonly number[])[];
  /** Steps on indices, results of the steps before, and pixels, in this order. Empty if the pixel is the result. */
  readonly after: readonly Step[];
}

/** For each place in the result, the weight of each place in the image. */
export type Weights = readonly (readonly number[])[];

/** Longer dimensions are not computed. */
const MOST_PLACES = 2 ** 11;

/** Sums of more products take as long as reading single pixels. */
const MOST_SUMMED = 128;

/** Of weights that are rounded. */
const TOLERANCE = 1e-5;

/** Pixels of the result whose weights are compared with products of the dimensions' weights. */
const SAMPLES = 256;

/** The lines of a result along a dimension. */
export interface Lines {
  readonly weights: Weights;
  /** How often each place is repeated; null for other weights. */
  readonly repetitions: number | null;
}

function repetitionsOf(weights: Weights): number | null {
  const count = weights.length / weights[0]!.length;
  const areRepeated = weights.every((row, i) =>
    row.every((one, k) => one === (k === Math.floor(i / count) ? 1 : 0)),
  );
  return Number.isInteger(count) && areRepeated ? count : null;
}

const known = new WeakMap<PixelSum, readonly (Lines | null)[] | null>();

/**
 * The lines along each dimension, or null for one that stays as it is. Null for the whole if a pixel is no sum of products of these weights, or if the
 * sums are long.
 */
export function weightsOf(resize: PixelSum): readonly (Lines | null)[] | null {
  const before = known.get(resize);
  if (before !== undefined) return before;
  const weights = computed(resize);
  known.set(resize, weights);
  return weights;
}

function computed(resize: PixelSum): readonly (Lines | null)[] | null {
  const { image, result, reads } = resize;
  if (!isLinear(resize)) return null;
  const kept = result.shape.map(
    (size, d) => size === image.shape[d] && reads.every((places) => places[d] === d),
  );
  const isLong = (size: number, d: number) => !kept[d] && size > MOST_PLACES;
  if (image.shape.some(isLong) || result.shape.some(isLong)) return null;
  const pixelsOf = reading(resize);
  const middle = result.shape.map((size) => Math.floor(size / 2));
  const all: (Lines | null)[] = [];
  for (const [d, size] of result.shape.entries()) {
    const rows = kept[d]
      ? []
      : Array.from({ length: size }, (_, i) => lineOf(pixelsOf(middle.with(d, i)), d, image.shape[d]!));
    if (!rows.every((row) => row !== null)) return null;
    const repetitions = kept[d] ? 1 : repetitionsOf(rows);
    all.push(repetitions === 1 ? null : { weights: rows, repetitions });
  }
  const changed = all.filter((one) => one !== null);
  const others = changed.filter(({ repetitions }) => repetitions === null);
  const areShort = others.every(({ weights: [row] }) => row!.length <= MOST_SUMMED);
  if (others.length > 0 && !(areShort && result.elementType === 'f32')) return null;
  return changed.length > 0 && areApart(resize, pixelsOf, all) ? all : null;
}

/** A pixel of the image that is read, and its weight. */
interface Pixel {
  readonly at: readonly number[];
  readonly weight: number;
}

/** Types of indices, steps, pixels and later steps, in this order. */
export const typesOf = ({ image, before, reads, after }: PixelSum): string[] => [
  ...image.shape.map(() => INDEX),
  ...before.map(({ type }) => type),
  ...reads.map(() => image.elementType),
  ...after.map(({ type }) => type),
];

/** Gives the pixels that are read for a place in the result. */
function reading(resize: PixelSum): (place: readonly number[]) => readonly Pixel[] {
  const { image, before, reads, after } = resize;
  const placesAt = evaluating(
    before,
    image.shape.map(() => INDEX),
  );
  const sumOf = evaluating(
    after,
    typesOf(resize).slice(0, image.shape.length + before.length + reads.length),
  );
  return (place) => {
    const values = placesAt(place);
    return reads.map((places, k) => ({
      at: places.map((one) => values[one]!),
      weight: after.length === 0 ? 1 : sumOf([...values, ...reads.map((_, i) => (i === k ? 1 : 0))]).at(-1)!,
    }));
  };
}

/** Whether pixels are in each index, step, pixel and later step, in this order. */
export function areOfPixels({ image, before, reads, after }: PixelSum): boolean[] {
  const first = image.shape.length + before.length;
  const all = Array.from({ length: first + reads.length }, (_, i) => i >= first);
  for (const { of } of after) all.push(of.some((one) => all[one]));
  return all;
}

/** Whether the result is a sum of pixels, each multiplied by a function of its place. */
function isLinear(resize: PixelSum): boolean {
  const isOfPixels = areOfPixels(resize);
  const areLinear = resize.after.every(({ name, of }) => {
    const pixels = of.filter((one) => isOfPixels[one]).length;
    const isSum = (name === 'arith.addf' || name === 'arith.subf') && pixels === 2;
    return pixels === 0 || isSum || (name === 'arith.mulf' && pixels === 1);
  });
  return areLinear && isOfPixels.at(-1)!;
}

/** The weights along a dimension; null for pixels outside of the image, and for weights whose sum is not 1. */
function lineOf(pixels: readonly Pixel[], d: number, size: number): number[] | null {
  const line = Array.from({ length: size }, () => 0);
  for (const { at, weight } of pixels) {
    if (line[at[d]!] === undefined) return null;
    line[at[d]!]! += weight;
  }
  // The sum is that of the other dimensions' weights, which are rounded.
  const sum = line.reduce((before, one) => before + one, 0);
  return Math.abs(sum - 1) < TOLERANCE ? line.map((one) => one / sum) : null;
}

/** Whether the weights of pixels are products of the dimensions' weights. */
function areApart(
  { image, result }: PixelSum,
  pixelsOf: (place: readonly number[]) => readonly Pixel[],
  lines: readonly (Lines | null)[],
): boolean {
  return Array.from({ length: SAMPLES }, (_, i) => i).every((i) => {
    const place = result.shape.map((size, d) => Math.floor(((i * (2 * d + 3) * 0.618) % 1) * size));
    const sums = new Map<string, number>();
    for (const { at, weight } of pixelsOf(place)) sums.set(at.join(), (sums.get(at.join()) ?? 0) + weight);
    return [...sums].every(([key, sum]) => {
      const at = key.split(',').map(Number);
      const isInside = at.every((one, d) => one >= 0 && one < image.shape[d]!);
      const product = at.reduce(
        (all, one, d) => all * (lines[d] ? lines[d].weights[place[d]!]![one]! : Number(one === place[d])),
        1,
      );
      return isInside && Math.abs(sum - product) < TOLERANCE;
    });
  });
}
