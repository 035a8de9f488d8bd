// Made-up inputs for a function: raw little-endian files, and the `--input=` values that name them.
import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { seededRandom, type Random } from '../search/strategy.ts';
import { elementBytes, type RuntimeType } from '../input/runtime-type.ts';
import type { ProgramFunction } from '../input/signature.ts';

/**
 * Writes `input0.bin`, `input1.bin`, ... into `folder`, at random, the same for the same `seed`.
 *
 * Everything is a small integer, exact in every type, so that sums of products are exact too as long as they are not
 * too long, whatever the order of summation: -2 to 2 in wide floats, -1 to 1 in narrow ones, whose accumulators hold
 * few bits. Integers of 8 bits are data, -8 to 7. Wider ones may be token ids, positions, lengths or indices of blocks,
 * of which nobody says how large they may be: 0 and 1 nearly always are allowed. A scalar is 1, or 0.5.
 *
 * @returns values of `--input=`, one per argument
 * @throws when the files cannot be written
 */
export async function writeInputs(
  { arguments: types }: ProgramFunction,
  folder: string,
  seed: number,
): Promise<string[]> {
  const random = seededRandom(seed);
  const inputs: string[] = [];
  for (const [i, { shape, elementType }] of types.entries()) {
    if (shape === null) {
      inputs.push(elementType.startsWith('f') ? '0.5' : '1');
      continue;
    }
    const file = join(folder, `input${i}.bin`);
    await writeFile(file, randomElements({ shape, elementType }, random));
    inputs.push(`${[...shape, elementType].join('x')}=@${file}`);
  }
  return inputs;
}

/** How many bytes the inputs of a function take in all. */
export const inputBytes = ({ arguments: types }: ProgramFunction): number =>
  types.reduce((sum, { shape, elementType }) => sum + bytesOf(shape ?? [], elementType), 0);

const bytesOf = (shape: readonly number[], elementType: string) =>
  shape.reduce((product, size) => product * size, elementBytes(elementType));

/** The bits of 1 in floats narrower than 32 bits, whose top bit is the sign, and what one more in the exponent adds. */
const NARROW_ONE: Readonly<Record<string, readonly [one: number, exponent: number]>> = {
  f16: [0x3c00, 1 << 10],
  bf16: [0x3f80, 1 << 7],
  f8E4M3FN: [0x38, 1 << 3],
  f8E4M3FNUZ: [0x40, 1 << 3],
  f8E5M2: [0x3c, 1 << 2],
  f8E5M2FNUZ: [0x40, 1 << 2],
};

/**
 * Elements of a tensor as `writeInputs` makes them up.
 * @param exponent of the power of 2 that floats are multiplied by
 */
export function randomElements(
  { shape, elementType }: RuntimeType,
  random: Random,
  exponent = 0,
): Uint8Array {
  const length = shape!.reduce((product, size) => product * size, 1);
  const between = (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
  const narrow = NARROW_ONE[elementType];
  if (narrow !== undefined) {
    const one = narrow[0] + exponent * narrow[1];
    const sign = 2 ** (8 * elementBytes(elementType) - 1);
    const values = [sign + one, 0, one];
    const array = elementBytes(elementType) === 1 ? new Uint8Array(length) : new Uint16Array(length);
    for (let i = 0; i < length; i++) array[i] = values[between(0, 2)]!;
    return new Uint8Array(array.buffer);
  }
  const fill = (
    array: Float64Array | Float32Array | Int32Array | Int16Array | Int8Array,
    least: number,
    most: number,
  ) => {
    const scale = array instanceof Float64Array || array instanceof Float32Array ? 2 ** exponent : 1;
    for (let i = 0; i < length; i++) array[i] = scale * between(least, most);
    return new Uint8Array(array.buffer);
  };
  switch (elementType.replace(/^[su]i/, 'i')) {
    case 'f64':
      return fill(new Float64Array(length), -2, 2);
    case 'f32':
      return fill(new Float32Array(length), -2, 2);
    case 'i8':
      return fill(new Int8Array(length), elementType === 'ui8' ? 0 : -8, 7);
    case 'i16':
      return fill(new Int16Array(length), 0, 1);
    case 'i32':
      return fill(new Int32Array(length), 0, 1);
    case 'i64': {
      const array = new BigInt64Array(length);
      for (let i = 0; i < length; i++) array[i] = BigInt(between(0, 1));
      return new Uint8Array(array.buffer);
    }
    default:
      // i1, one byte each.
      return fill(new Int8Array(length), 0, 1);
  }
}

/** Relative to a number: what sums in another order come to, and half a unit in the last place of narrow floats. */
const RELATIVE_ROUNDING: Readonly<Record<string, number>> = {
  f64: 2 ** -50,
  f32: 2 ** -21,
  f16: 2 ** -11,
  bf16: 2 ** -8,
};

/**
 * Writes inputs that differ from others by rounding into `folder`: wide floats up or down by as much as rounding comes to where
 * it is not exact, narrow ones by the last bit, all else as it is.
 * @param inputs as `writeInputs` gives them
 * @param roundsTo element types that the program rounds to; the one that rounds most decides
 * @returns the same of the new files
 */
export function roundedInputs(
  inputs: readonly string[],
  roundsTo: readonly string[],
  folder: string,
): Promise<string[]> {
  const random = seededRandom(1);
  const path = (given: string) => join(folder, basename(given));
  return changedInputs(inputs, path, ({ elementType }, bytes) =>
    RELATIVE_ROUNDING[elementType] === undefined
      ? null
      : roundedElements(bytes, elementType, roundsTo, random),
  );
}

/**
 * Writes inputs again.
 * @param pathOf place of the new file, by the path of the given one
 * @param change the new elements of a tensor; null to keep the input as it is
 */
async function changedInputs(
  inputs: readonly string[],
  pathOf: (given: string) => string,
  change: (
    type: { readonly shape: readonly number[]; readonly elementType: string },
    bytes: Uint8Array<ArrayBuffer>,
  ) => Uint8Array | Float32Array | Float64Array | null,
): Promise<string[]> {
  const changed: string[] = [];
  for (const input of inputs) {
    // A scalar has no file.
    const [, type, path] = /^(.*)=@(.*)$/.exec(input) ?? [];
    const shape = type?.split('x') ?? [];
    const elementType = shape.pop() ?? '';
    const elements =
      path === undefined
        ? null
        : change({ shape: shape.map(Number), elementType }, new Uint8Array(await readFile(path)));
    if (elements === null) {
      changed.push(input);
      continue;
    }
    const file = pathOf(path!);
    await writeFile(file, elements);
    changed.push(`${type}=@${file}`);
  }
  return changed;
}

function roundedElements(
  { buffer }: Uint8Array<ArrayBuffer>,
  elementType: string,
  roundsTo: readonly string[],
  random: Random,
): Uint8Array | Float32Array | Float64Array {
  const isUp = () => random() < 0.5;
  if (elementType === 'f64' || elementType === 'f32') {
    const types = [elementType, ...roundsTo];
    const relative = Math.max(...types.map((type) => RELATIVE_ROUNDING[type] ?? 0));
    const round = (value: number) => value * (isUp() ? 1 + relative : 1 - relative);
    return (elementType === 'f64' ? new Float64Array(buffer) : new Float32Array(buffer)).map(round);
  }
  // Zero stays zero, whatever its sign.
  const halves = new Uint16Array(buffer).map((half) => (half & 0x7fff && isUp() ? half ^ 1 : half));
  return new Uint8Array(halves.buffer);
}

/** Begins names of files. */
const TAME = 'tame-';

/** Whether some of these inputs are from `tameInputs`. */
export const areTame = (inputs: readonly string[]): boolean =>
  inputs.some((input) => basename(input).startsWith(TAME));

/** Sums of more products are not of weights, so such an input is data: an image, say. */
const MOST_SUMMED = 2 ** 14;

/**
 * Writes inputs beside the given ones that give finite results in deep networks more often than small integers do. Vectors, of which some
 * are variances, get positive values. Matrices and larger tensors, which are mostly weights, are scaled so that a sum of products is about
 * as large as one of its factors.
 * @param inputs as `writeInputs` gives them
 * @param isPositive whether no element of any tensor is negative
 * @returns the same of the new files
 */
export function tameInputs(inputs: readonly string[], isPositive: boolean): Promise<string[]> {
  const path = (given: string) => join(dirname(given), `${TAME}${basename(given)}`);
  return changedInputs(inputs, path, ({ shape, elementType }, bytes) => {
    const scale = scaleOf(shape);
    return mapped(bytes, elementType, (value) =>
      scale === null ? Math.max(1, Math.abs(value)) : scale * (isPositive ? Math.abs(value) : value),
    );
  });
}

/**
 * A power of two for the elements of a tensor; null for a vector. The largest of the first and the last dimension counts outputs in the
 * usual layouts of weights, and the others are summed over.
 */
function scaleOf(shape: readonly number[]): number | null {
  if (shape.length <= 1) return null;
  const summed =
    shape.reduce((product, size) => product * size, 1) / Math.max(1, shape[0]!, shape[shape.length - 1]!);
  return summed > MOST_SUMMED ? 1 : 2 ** -Math.ceil(Math.log2(Math.max(1, summed)) / 2);
}

/** Floats through a function, where 0 and powers of two are all that occurs in narrow ones; null for other types. */
function mapped(
  { buffer }: Uint8Array<ArrayBuffer>,
  elementType: string,
  to: (value: number) => number,
): Uint8Array | Float32Array | Float64Array | null {
  if (elementType === 'f32') return new Float32Array(buffer).map(to);
  if (elementType === 'f64') return new Float64Array(buffer).map(to);
  if (elementType !== 'f16' && elementType !== 'bf16') return null;
  const [one, exponent] = NARROW_ONE[elementType]!;
  const halves = new Uint16Array(buffer).map((half) => {
    const size = half & 0x7fff;
    const value = to(size === 0 ? 0 : (half === size ? 1 : -1) * 2 ** ((size - one) / exponent));
    return value === 0 ? 0 : (value < 0 ? 0x8000 : 0) + one + Math.log2(Math.abs(value)) * exponent;
  });
  return new Uint8Array(halves.buffer);
}
