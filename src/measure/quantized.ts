// Results of 8 bits, as floats: those of quantized networks. Pure.
import type { Elements } from './elements.ts';

/** Most values of a quantized result, and the fewest that show it. */
const MOST_VALUES = 256;
const LEAST_VALUES = 8;

/** A result of fewer elements has few different values by chance. */
const LEAST_QUANTIZED = 256;

/** Rounding errors of values on a grid, as a share of its step. */
const OFF_GRID = 0.01;

/** Whether a result has at most 256 values, in equal steps. */
export function isQuantized(elements: Elements): boolean {
  if (elements.length < LEAST_QUANTIZED) return false;
  const found = new Set<number>();
  for (let i = 0; i < elements.length && found.size <= MOST_VALUES; i++) found.add(Number(elements[i]));
  const values = [...found].sort((a, b) => a - b);
  if (values.length > MOST_VALUES || values.length < LEAST_VALUES || !values.every(Number.isFinite))
    return false;
  const distances = values.slice(1).map((value, i) => value - values[i]!);
  const step = Math.min(...distances);
  const isOnGrid = distances.every((one) => Math.abs(one / step - Math.round(one / step)) <= OFF_GRID);
  return isOnGrid && values.at(-1)! - values[0]! <= MOST_VALUES * step;
}
