// Random inputs for a function: raw little-endian files, and the `--input=` values that name them.
import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { seededRandom, type Random } from '../search/strategy.ts';
import { elementBytes, type RuntimeType } from '../input/runtime-type.ts';
import type { ProgramFunction } from '../input/signature.ts';
import { sumOf } from '../measure/statistics.ts';
import { elementsOf } from '../workload/tensor.ts';

/**
 * Writes random tensors to `input0.bin`, `input1.bin`, ... in `folder`. The same `seed` gives the same values.
 *
 * Elements are small integers, so that sums of products are exact in any order of summation, unless the sums are very long. f32 and f64
 * get -2 to 2. Narrow floats, whose accumulators hold few bits, get -1 to 1. 8-bit integers are data, and get -8 to 7. Wider integers
 * may be token ids, positions, lengths or indices with an unknown bound, and get 0 and 1. A scalar is 1, or 0.5 for a float.
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

/** Bytes of all inputs of a function. */
export const inputBytes = ({ arguments: types }: ProgramFunction): number => sumOf(types.map(tensorBytes));

/** Bytes of a tensor or a scalar in a file. */
export const tensorBytes = ({ shape, elementType }: RuntimeType): number =>
  elementsOf(shape ?? []) * elementBytes(elementType);

/** For floats narrower than 32 bits: the bits of 1.0, and the lowest bit of the exponent. The top bit is the sign. */
const NARROW_ONE: Readonly<Record<string, readonly [one: number, exponent: number]>> = {
  f16: [0x3c00, 1 << 10],
  bf16: [0x3f80, 1 << 7],
  f8E4M3FN: [0x38, 1 << 3],
  f8E4M3FNUZ: [0x40, 1 << 3],
  f8E5M2: [0x3c, 1 << 2],
  f8E5M2FNUZ: [0x40, 1 << 2],
};

/** For other types: the array, and the range of elements. */
const RANGES: Readonly<
  Record<string, readonly [new (length: number) => Numbers, least: number, most: number]>
> = {
  f64: [Float64Array, -2, 2],
  f32: [Float32Array, -2, 2],
  i8: [Int8Array, -8, 7],
  ui8: [Int8Array, 0, 7],
  i16: [Int16Array, 0, 1],
  i32: [Int32Array, 0, 1],
  i64: [BigInt64Array, 0, 1],
  // An i1 takes one byte.
  i1: [Int8Array, 0, 1],
};

type Numbers = Float64Array | Float32Array | Int32Array | Int16Array | Int8Array | BigInt64Array;

/**
 * Random elements of a tensor: see `writeInputs`.
 * @param exponent floats are multiplied by 2 to the power of it
 */
export function randomElements(
  { shape, elementType }: RuntimeType,
  random: Random,
  exponent = 0,
): Uint8Array {
  const length = elementsOf(shape!);
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
  const [Numbers, least, most] = RANGES[elementType] ?? RANGES[elementType.replace(/^[su]i/, 'i')]!;
  const scale = elementType.startsWith('f') ? 2 ** exponent : 1;
  const array = new Numbers(length);
  for (let i = 0; i < length; i++) {
    const value = scale * between(least, most);
    if (array instanceof BigInt64Array) array[i] = BigInt(value);
    else array[i] = value;
  }
  return new Uint8Array(array.buffer);
}

/** Relative size of a rounding: for wide floats that of sums in another order, for narrow floats half a unit in the last place. */
const RELATIVE_ROUNDING: Readonly<Record<string, number>> = {
  f64: 2 ** -50,
  f32: 2 ** -21,
  f16: 2 ** -11,
  bf16: 2 ** -8,
};

/**
 * Writes inputs into `folder` that differ from the given inputs by a rounding. Each wide float moves up or down by the rounding of the
 * coarsest type. Narrow floats change in the last bit. Other types stay the same.
 * @param inputs values of `--input=` from `writeInputs`
 * @param roundsTo element types that the program rounds to
 * @returns values of `--input=` with the new files
 */
export function roundedInputs(
  inputs: readonly string[],
  roundsTo: readonly string[],
  folder: string,
): Promise<string[]> {
  const random = seededRandom(1);
  const isUp = () => random() < 0.5;
  const path = (given: string) => join(folder, basename(given));
  return changedInputs(inputs, path, ({ elementType }, bytes) => {
    const relative = Math.max(...[elementType, ...roundsTo].map((type) => RELATIVE_ROUNDING[type] ?? 0));
    const wide = (value: number) => value * (isUp() ? 1 + relative : 1 - relative);
    // Zero and negative zero stay zero.
    return mapped(bytes, elementType, wide, (half) => (half & 0x7fff && isUp() ? half ^ 1 : half));
  });
}

/**
 * Writes changed copies of inputs.
 * @param pathOf path of the new file, by the path of the given file
 * @param change returns the new elements of a tensor; null keeps the input
 */
async function changedInputs(
  inputs: readonly string[],
  pathOf: (given: string) => string,
  change: (type: RuntimeType, bytes: ArrayBuffer) => NodeJS.ArrayBufferView | null,
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
        : change({ shape: shape.map(Number), elementType }, new Uint8Array(await readFile(path)).buffer);
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

/**
 * Changes each float of a tensor; null for other types.
 * @param narrow changes the bits of a float of 16 bits
 */
function mapped(
  bytes: ArrayBuffer,
  elementType: string,
  wide: (value: number) => number,
  narrow: (bits: number) => number,
): NodeJS.ArrayBufferView | null {
  if (elementType === 'f64') return new Float64Array(bytes).map(wide);
  if (elementType === 'f32') return new Float32Array(bytes).map(wide);
  return elementType === 'f16' || elementType === 'bf16' ? new Uint16Array(bytes).map(narrow) : null;
}

/** Prefix of file names. */
const SCALED = 'scaled-';

/** Whether some of these inputs are from `scaledInputs`. */
export const areScaled = (inputs: readonly string[]): boolean =>
  inputs.some((input) => basename(input).startsWith(SCALED));

/** Weights are summed over fewer elements. A tensor with more is data, such as an image, and is not scaled. */
const MOST_SUMMED = 2 ** 14;

/**
 * Writes inputs that keep the results of deep networks finite more often than small integers do. The new files lie in the folder of the
 * given ones. Vectors may be variances, so their elements become positive. Tensors of a higher rank are mostly weights, and are scaled so
 * that a sum of products is about as large as one factor.
 * @param inputs values of `--input=` from `writeInputs`
 * @param isPositive whether all elements become non-negative
 * @returns values of `--input=` with the new files
 */
export function scaledInputs(inputs: readonly string[], isPositive: boolean): Promise<string[]> {
  const path = (given: string) => join(dirname(given), `${SCALED}${basename(given)}`);
  return changedInputs(inputs, path, ({ shape, elementType }, bytes) => {
    const scale = scaleOf(shape!);
    const to = (value: number) =>
      scale === null ? Math.max(1, Math.abs(value)) : scale * (isPositive ? Math.abs(value) : value);
    return mapped(bytes, elementType, to, (half) => narrowed(half, elementType, to));
  });
}

/**
 * Power of two to scale a tensor's elements by; null for a vector. In the usual layouts of weights, the larger of the first and the last
 * dimension counts outputs, and sums run over the other dimensions.
 */
function scaleOf(shape: readonly number[]): number | null {
  if (shape.length <= 1) return null;
  const summed = elementsOf(shape) / Math.max(1, shape[0]!, shape[shape.length - 1]!);
  return summed > MOST_SUMMED ? 1 : 2 ** -Math.ceil(Math.log2(Math.max(1, summed)) / 2);
}

/** Applies a function to the bits of a float of 16 bits. Before and after, the float is 0 or a power of two. */
function narrowed(half: number, elementType: string, to: (value: number) => number): number {
  const [one, exponent] = NARROW_ONE[elementType]!;
  const size = half & 0x7fff;
  const value = to(size === 0 ? 0 : (half === size ? 1 : -1) * 2 ** ((size - one) / exponent));
  return value === 0 ? 0 : (value < 0 ? 0x8000 : 0) + one + Math.log2(Math.abs(value)) * exponent;
}
