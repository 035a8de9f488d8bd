// Random elements of tensors, and changes of elements: moves by which honest builds are compared, and scales. A tensor repeats its first random numbers, because drawing each would take seconds. So tensors of any size are
// written in pieces.
import type { Random } from '../search/strategy.ts';
import { decodeElements, encodeElements, numbers } from '../measure/elements.ts';
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

/** A change of a tensor's elements, one after another. */
export interface Change {
  readonly of: (value: number) => number;
  /** Whether it is the same for elements at a distance of `PERIOD`. */
  readonly isPeriodic: boolean;
}

/** Relative size of a move in the last bits. In f32, sums in another order move a result by several units in the last place. */
const LAST_BITS: Readonly<Record<string, number>> = {
  f64: 2 ** -50,
  f32: 2 ** -21,
  f16: 2 ** -10,
  bf16: 2 ** -8,
};

/** Share of the elements that move. Builds sum narrow floats in f32, so few of the rounded results differ. */
const MOVED_SHARE: Readonly<Record<string, number>> = { f16: 1 / 256, bf16: 1 / 256 };

/** A move of inputs: its size as a share of a value, and the share of the elements that move. */
interface Move {
  readonly relative: number;
  readonly share: number;
}

/** Size of a move by about one step of 8 bits, and the number of such moves in a tensor. */
const [STEP, STEPS] = [2 ** -5, 3];

/** A move of few of so many elements by about one step of 8 bits. */
export const stepOf = (elements: number): Move => ({ relative: STEP, share: STEPS / elements });

/** Moves floats of a type up or down. @param move default: in their last bits */
export function moveOf(
  elementType: string,
  random: Random,
  { relative, share }: Move = { relative: LAST_BITS[elementType] ?? 0, share: MOVED_SHARE[elementType] ?? 1 },
): Change {
  const factor = () => {
    const chance = random() / share;
    return chance >= 1 ? 1 : chance < 0.5 ? 1 + relative : 1 - relative;
  };
  // A few moves would be none in most tensors, or would repeat.
  if (share * PERIOD < STEPS) return { of: (value) => value * factor(), isPeriodic: false };
  const factors = numbers(PERIOD, factor);
  let next = 0;
  const of = (value: number) => {
    if (next === PERIOD) next = 0;
    return value * factors[next++]!;
  };
  return { of, isPeriodic: true };
}

/** Whether elements of a type can be changed. */
export const isChangeable = (elementType: string): boolean =>
  isFloat(elementType) && decodeElements(new Uint8Array(), elementType) !== null;

/** Changed floats of a type that is changeable. */
export function changed(bytes: Uint8Array, elementType: string, { of }: Change): Uint8Array {
  const values = decodeElements(bytes, elementType)!;
  return new Uint8Array(
    encodeElements(
      numbers(values.length, (i) => of(Number(values[i]))),
      elementType,
    ).buffer,
  );
}

/**
 * Changed floats in pieces. Equal pieces are changed once: random tensors repeat.
 * @param pieces each of `PERIOD` elements, but for the last one
 */
export function* changedPieces(
  pieces: Iterable<Uint8Array>,
  elementType: string,
  change: Change,
): Generator<Uint8Array> {
  let last: { readonly piece: Uint8Array; readonly made: Uint8Array } | null = null;
  for (const piece of pieces) {
    const isKnown =
      last !== null && change.isPeriodic && Buffer.compare(piece, last.piece.subarray(0, piece.length)) === 0;
    // All pieces may share one buffer.
    if (!isKnown) last = { piece: new Uint8Array(piece), made: changed(piece, elementType, change) };
    yield last!.made.subarray(0, piece.length);
  }
}
