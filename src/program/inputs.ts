// Random inputs for a function: raw little-endian files, and the `--input=` values that name them.
import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { seededRandom, type Random } from '../search/strategy.ts';
import { elementBytes, type RuntimeType } from '../input/runtime-type.ts';
import type { ProgramFunction } from '../input/signature.ts';
import { decodeElements, encodeElements, zeroElements } from '../measure/elements.ts';
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

/** Least and largest element, by type. Other floats have -1 to 1, and other integers 0 and 1. */
const RANGES: Readonly<Record<string, readonly [least: number, largest: number]>> = {
  ...{ f64: [-2, 2], f32: [-2, 2] },
  ...{ i8: [-8, 7], si8: [-8, 7], ui8: [0, 7] },
};

const isFloat = (elementType: string) => /^b?f/.test(elementType);

/**
 * Random elements of a tensor: see `writeInputs`.
 * @param exponent floats are multiplied by 2 to the power of it
 */
export function randomElements(
  { shape, elementType }: RuntimeType,
  random: Random,
  exponent = 0,
): Uint8Array {
  const [least, largest] = RANGES[elementType] ?? (isFloat(elementType) ? [-1, 1] : [0, 1]);
  const scale = isFloat(elementType) ? 2 ** exponent : 1;
  const values = Array.from({ length: largest - least + 1 }, (_, i) => scale * (least + i));
  const codes = encodeElements(values, elementType);
  const elements = zeroElements(elementsOf(shape!), elementType);
  for (let i = 0; i < elements.length; i++) elements[i] = codes[Math.floor(random() * codes.length)]!;
  return new Uint8Array(elements.buffer);
}

/** Relative size of a rounding: for wide floats that of sums in another order, for others half a unit in the last place. */
const RELATIVE_ROUNDING: Readonly<Record<string, number>> = {
  f64: 2 ** -50,
  f32: 2 ** -21,
  f16: 2 ** -11,
  bf16: 2 ** -8,
};

/**
 * Writes inputs into `folder` that differ from the given inputs by a rounding. Each float moves up or down by the rounding of the
 * coarsest type.
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
  return changedInputs(
    inputs,
    (given) => join(folder, basename(given)),
    ({ elementType }) => {
      const relative = Math.max(...[elementType, ...roundsTo].map((type) => RELATIVE_ROUNDING[type] ?? 0));
      return (value) => value * (random() < 0.5 ? 1 + relative : 1 - relative);
    },
  );
}

/**
 * Writes copies of inputs with changed floats. Other types stay the same.
 * @param pathOf path of the new file, by the path of the given file
 * @param changeOf returns the change of a tensor's elements
 */
async function changedInputs(
  inputs: readonly string[],
  pathOf: (given: string) => string,
  changeOf: (type: RuntimeType) => (value: number) => number,
): Promise<string[]> {
  const changed: string[] = [];
  for (const input of inputs) {
    // A scalar has no file.
    const [, type, path] = /^(.*)=@(.*)$/.exec(input) ?? [];
    const shape = type?.split('x') ?? [];
    const elementType = shape.pop() ?? '';
    const values =
      path === undefined || !isFloat(elementType) ? null : decodeElements(await readFile(path), elementType);
    if (values === null) {
      changed.push(input);
      continue;
    }
    const change = changeOf({ shape: shape.map(Number), elementType });
    const elements = encodeElements(Float64Array.from(values as ArrayLike<number>, change), elementType);
    const file = pathOf(path!);
    await writeFile(file, new Uint8Array(elements.buffer));
    changed.push(`${type}=@${file}`);
  }
  return changed;
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
  const path = (given: string) => join(dirname(given), `scaled-${basename(given)}`);
  return changedInputs(inputs, path, ({ shape }) => {
    const scale = scaleOf(shape!);
    if (scale === null) return (value) => Math.max(1, Math.abs(value));
    return (value) => scale * (isPositive ? Math.abs(value) : value);
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
