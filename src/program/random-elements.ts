// Random elements of tensors. A tensor repeats its first random numbers, because drawing each would take seconds. So tensors of any size are
// written in pieces.
import type { Random } from '../search/strategy.ts';
import { encodeElements, numbers } from '../measure/elements.ts';
import { isFloat } from '../workload/element-type.ts';

/** Elements after which a tensor repeats. The number is prime, so hardly two rows are alike. */
export const PERIOD = 65_521;

/** Least and largest integer, by type. Other integers have 0 and 1. */
const RANGES: Readonly<Record<string, readonly [least: number, largest: number]>> = {
  ...{ i8: [-8, 7], si8: [-8, 7], ui8: [0, 7] },
};

const isWide = (elementType: string) => elementType === 'f32' || elementType === 'f64';

/**
 * Random elements: see `writeInputs`.
 * @param count of elements, at most `PERIOD`: a longer tensor repeats them
 * @param exponent floats are multiplied by 2 to the power of it
 */
export function randomElements(count: number, elementType: string, random: Random, exponent = 0): Uint8Array {
  const draw = (valueOf: () => number) =>
    new Uint8Array(encodeElements(numbers(count, valueOf), elementType).buffer);
  if (isFloat(elementType)) {
    const largest = (isWide(elementType) ? 2 : 1) * 2 ** exponent;
    return draw(() => largest * (2 * random() - 1));
  }
  const [least, largest] = RANGES[elementType] ?? [0, 1];
  return draw(() => least + Math.floor(random() * (largest - least + 1)));
}

/** Least bytes of a piece. */
const PIECE = 2 ** 22;

/** The same bytes again and again, `length` in all, in pieces. */
export function* repeated(period: Uint8Array, length: number): Generator<Uint8Array> {
  const times = Math.ceil(Math.min(PIECE, length) / period.length);
  const piece = times > 1 ? Buffer.alloc(times * period.length, period) : period;
  for (let left = length; left > 0; left -= piece.length) yield piece.subarray(0, left);
}

/** All pieces of several sources. */
export function* inTurn(...sources: readonly Iterable<Uint8Array>[]): Generator<Uint8Array> {
  for (const source of sources) yield* source;
}
