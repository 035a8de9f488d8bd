// Random inputs for a function: raw little-endian files, and the `--input=` values that name them.
import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { seededRandom, type Random } from '../search/strategy.ts';
import { elementBytes, type RuntimeType } from '../input/runtime-type.ts';
import type { ProgramFunction } from '../input/signature.ts';
import { decodeElements, encodeElements, numbers } from '../measure/elements.ts';
import { sumOf } from '../measure/statistics.ts';
import { isFloat } from '../workload/element-type.ts';
import { elementsOf } from '../workload/tensor.ts';

/**
 * Writes random tensors to `input0.bin`, `input1.bin`, ... in `folder`. The same `seed` gives the same values.
 *
 * Floats have values of all bits from -2 to 2, narrow floats from -1 to 1: small integers would hide arithmetic of lower precision. 8-bit
 * integers are data, and get -8 to 7. Wider integers may be token ids, positions, lengths or indices with an unknown bound, and get 0
 * and 1. A scalar is 1, or 0.5 for a float.
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

/** Least and largest integer, by type. Other integers have 0 and 1. */
const RANGES: Readonly<Record<string, readonly [least: number, largest: number]>> = {
  ...{ i8: [-8, 7], si8: [-8, 7], ui8: [0, 7] },
};

const isWide = (elementType: string) => elementType === 'f32' || elementType === 'f64';

/** Tensors repeat their first random numbers, because drawing each would take seconds. The number is prime, so hardly two rows are alike. */
const PERIOD = 65_521;

/**
 * Random elements of a tensor: see `writeInputs`.
 * @param exponent floats are multiplied by 2 to the power of it
 */
export function randomElements(type: RuntimeType, random: Random, exponent = 0): Uint8Array {
  const length = elementsOf(type.shape!);
  return repeated(
    drawElements(Math.min(length, PERIOD), type.elementType, random, exponent),
    tensorBytes(type),
  );
}

/** The same bytes again and again, in an array of this length. */
function repeated(period: Uint8Array, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  bytes.set(period);
  for (let filled = period.length; filled < length; filled *= 2) bytes.copyWithin(filled, 0, filled);
  return bytes;
}

function drawElements(length: number, elementType: string, random: Random, exponent: number): Uint8Array {
  if (isFloat(elementType)) {
    const largest = (isWide(elementType) ? 2 : 1) * 2 ** exponent;
    const values = numbers(length, () => largest * (2 * random() - 1));
    return new Uint8Array(encodeElements(values, elementType).buffer);
  }
  const [least, largest] = RANGES[elementType] ?? [0, 1];
  const values = numbers(length, () => least + Math.floor(random() * (largest - least + 1)));
  return new Uint8Array(encodeElements(values, elementType).buffer);
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

/** A change of a tensor's elements, one after another. */
interface Change {
  readonly of: (value: number) => number;
  /** Whether it is the same for elements at a distance of `PERIOD`. */
  readonly isPeriodic: boolean;
}

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

/** Changed floats; null for other types. */
export function changedElements(
  data: Uint8Array,
  elementType: string,
  changeOf: () => Change,
): Uint8Array | null {
  if (!isFloat(elementType)) return null;
  const change = changeOf();
  const period = PERIOD * elementBytes(elementType);
  const isRepeated =
    change.isPeriodic &&
    data.length > period &&
    Buffer.compare(data.subarray(period), data.subarray(0, -period)) === 0;
  const values = decodeElements(isRepeated ? data.subarray(0, period) : data, elementType);
  if (values === null) return null;
  const changed = numbers(values.length, (i) => change.of(Number(values[i])));
  return repeated(new Uint8Array(encodeElements(changed, elementType).buffer), data.length);
}

/**
 * Writes inputs into `folder` whose floats are moved in their last bits.
 * @param isStep whether few floats are moved by about one step of 8 bits instead
 * @param inputs values of `--input=` from `writeInputs`
 * @returns values of `--input=` with the new files
 */
export function movedInputs(
  inputs: readonly string[],
  folder: string,
  seed: number,
  isStep = false,
): Promise<string[]> {
  const random = seededRandom(seed);
  return changedInputs(
    inputs,
    (given, i) => join(folder, `${i}-${basename(given)}`),
    ({ shape, elementType }) =>
      moveOf(elementType, random, isStep ? { relative: STEP, share: STEPS / elementsOf(shape!) } : undefined),
  );
}

/** An input that goes on where the last one of the same file ended. */
const PART = /^[^@]*\+/;

/**
 * Writes copies of inputs with changed floats. Other types stay the same.
 * @param pathOf path of the new file, by the path of the given file and the number of the input
 * @param changeOf returns the change of a tensor's elements
 */
async function changedInputs(
  inputs: readonly string[],
  pathOf: (given: string, input: number) => string,
  changeOf: (type: RuntimeType) => Change,
): Promise<string[]> {
  const changed: string[] = [];
  /** The last file, and where an input with `+` begins in it. Its parts are read once. */
  let last = { path: '', bytes: Buffer.alloc(0), end: 0 };
  const isParted = inputs.some((input) => PART.test(input));
  for (const [i, input] of inputs.entries()) {
    // A scalar has no file.
    const [, prefix = '', sign, path] = /^(.*?)([@+])(.*)$/.exec(input) ?? [];
    if (path !== undefined && (sign === '@' || path !== last.path))
      last = { path, bytes: await readFile(path), end: 0 };
    const file = path === undefined ? null : tensorFile(prefix, last.bytes.subarray(last.end));
    if (file !== null) last.end += file.header.length + file.data.length;
    const own = file && changedElements(file.data, file.elementType, () => changeOf(file));
    // A part of a file is copied, because the file that it continues may be another one now.
    if (file === null || (own === null && !isParted)) {
      changed.push(input);
      continue;
    }
    const to = pathOf(path!, i);
    await writeFile(to, Buffer.concat([file.header, own ?? file.data]));
    changed.push(`${prefix}@${to}`);
  }
  return changed;
}

/** A tensor in a file. */
interface TensorFile extends RuntimeType {
  readonly shape: readonly number[];
  /** Bytes before the elements. */
  readonly header: Uint8Array;
  readonly data: Uint8Array;
}

/**
 * A file of raw elements, or one in NumPy's format, which names the type itself; null for another format.
 * @param prefix text of `--input=` before the path: `4x8xf32=`, or empty for NumPy's format
 */
function tensorFile(prefix: string, bytes: Buffer): TensorFile | null {
  if (bytes.toString('latin1', 0, 6) !== '\x93NUMPY') {
    const shape = prefix.slice(0, -1).split('x');
    const elementType = shape.pop()!;
    const type = { shape: shape.map(Number), elementType };
    return { ...type, header: new Uint8Array(), data: bytes.subarray(0, tensorBytes(type)) };
  }
  const begin = bytes[6] === 1 ? 10 : 12;
  const end = begin + (begin === 10 ? bytes.readUInt16LE(8) : bytes.readUInt32LE(8));
  const description = bytes.toString('latin1', begin, end);
  const [, size] = /'descr': *'<f(\d)'/.exec(description) ?? [];
  const [, sizes = ''] = /'shape': *\(([^)]*)\)/.exec(description) ?? [];
  if (size === undefined) return null;
  const shape = sizes.split(',').filter((one) => one.trim() !== '');
  const type = { shape: shape.map(Number), elementType: `f${8 * Number(size)}` };
  return { ...type, header: bytes.subarray(0, end), data: bytes.subarray(end, end + tensorBytes(type)) };
}

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
  const path = (given: string, i: number) => join(dirname(given), `scaled-${i}-${basename(given)}`);
  return changedInputs(inputs, path, ({ shape }) => {
    const scale = scaleOf(shape!);
    const of = (value: number) =>
      scale === null ? Math.max(1, Math.abs(value)) : scale * (isPositive ? Math.abs(value) : value);
    return { of, isPeriodic: true };
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
