// Inputs of a function as values of `--input=`: the user's, and random tensors in raw little-endian files.
import { basename, dirname, join } from 'node:path';
import { seededRandom } from '../search/strategy.ts';
import { tensorBytes, type RuntimeType } from '../input/runtime-type.ts';
import type { ProgramFunction } from '../input/signature.ts';
import { sumOf } from '../measure/statistics.ts';
import { writeSlices } from '../system/bytes.ts';
import { elementsOf } from '../workload/tensor.ts';
import type { Given } from './own-data.ts';
import {
  changedPieces,
  inTurn,
  isChangeable,
  moveOf,
  PERIOD,
  randomElements,
  repeated,
  stepOf,
  type Change,
} from './random-elements.ts';
import { bytesAt, fileValue, piecesIn, tensorIn } from './tensor-file.ts';

const NOTHING_GIVEN: Given = new Map();

/**
 * Writes random tensors to `input0.bin`, `input1.bin`, ... in `folder`. The same `seed` gives the same values.
 *
 * Floats have values of all bits from -2 to 2, narrow floats from -1 to 1: small integers would hide arithmetic of lower precision. 8-bit
 * integers are data, and get -8 to 7. Wider integers may be token ids, positions, lengths or indices with an unknown bound, and get 0
 * and 1. A scalar is 1, or 0.5 for a float.
 *
 * @param given the user's values, which stay as they are
 * @returns values of `--input=`, one per argument
 * @throws when the files cannot be written
 */
export function writeInputs(
  { arguments: types }: Pick<ProgramFunction, 'arguments'>,
  folder: string,
  seed: number,
  given = NOTHING_GIVEN,
): string[] {
  const random = seededRandom(seed);
  return types.map((type, i) => {
    const { shape, elementType } = type;
    if (given.has(i)) return given.get(i)!;
    if (shape === null) return elementType.startsWith('f') ? '0.5' : '1';
    const file = join(folder, `input${i}.bin`);
    const period = randomElements(Math.min(elementsOf(shape), PERIOD), elementType, random);
    writeSlices(file, repeated(period, tensorBytes(type)));
    return `${[...shape, elementType].join('x')}=@${file}`;
  });
}

/** Bytes of the generated inputs of a function. */
export const inputBytes = (
  { arguments: types }: Pick<ProgramFunction, 'arguments'>,
  given = NOTHING_GIVEN,
): number => sumOf(types.filter((_, i) => !given.has(i)).map(tensorBytes));

/**
 * Writes inputs into `folder` whose floats are moved in their last bits. The user's files are copied with moved floats, too.
 * @param isStep whether few floats are moved by about one step of 8 bits instead
 * @param inputs values of `--input=`
 * @returns values of `--input=` with the new files
 */
export function movedInputs(
  inputs: readonly string[],
  folder: string,
  seed: number,
  isStep = false,
): string[] {
  const random = seededRandom(seed);
  return changedInputs(
    inputs,
    (given, i) => join(folder, `${i}-${basename(given)}`),
    ({ shape, elementType }) => moveOf(elementType, random, isStep ? stepOf(elementsOf(shape!)) : undefined),
  );
}

/**
 * Writes copies of inputs with changed floats. Other types, and formats that are not known, stay the same.
 * @param pathOf path of the new file, by the path of the given file and the number of the input
 * @param changeOf returns the change of a tensor's elements
 */
function changedInputs(
  inputs: readonly string[],
  pathOf: (given: string, input: number) => string,
  changeOf: (type: RuntimeType) => Change,
): string[] {
  /** Where the next input with `+` begins, by the path of its file. */
  const ends = new Map<string, number>();
  const isParted = inputs.some((input) => fileValue(input)?.sign === '+');
  return inputs.map((input, i) => {
    const value = fileValue(input);
    if (value === null) return input;
    const { prefix, sign, path } = value;
    const at = sign === '+' ? (ends.get(path) ?? 0) : 0;
    const tensor = tensorIn(value, at);
    if (tensor === null) return input;
    const { begin, bytes, elementType } = tensor;
    ends.set(path, begin + bytes);
    const isChanged = isChangeable(elementType);
    // A part of a file is copied, because the file that it continues may be another one now.
    if (!isChanged && !isParted) return input;
    const to = pathOf(path, i);
    const pieces = piecesIn(path, tensor, PERIOD * tensorBytes({ shape: null, elementType }));
    const header = bytesAt(path, at, begin - at);
    writeSlices(
      to,
      inTurn([header], isChanged ? changedPieces(pieces, elementType, changeOf(tensor)) : pieces),
    );
    return `${prefix}@${to}`;
  });
}

/** Weights are summed over fewer elements. A tensor with more is data, such as an image, and is not scaled. */
const MOST_SUMMED = 2 ** 14;

/**
 * Writes inputs that keep the results of deep networks finite more often than small integers do. The new files lie in the folder of the
 * given ones. Vectors may be variances, so their elements become positive. Tensors of a higher rank are mostly weights, and are scaled so
 * that a sum of products is about as large as one factor.
 * @param inputs values of `--input=` from `writeInputs`
 * @param isPositive whether all elements become non-negative
 * @param given the user's values among them, which stay as they are
 * @returns values of `--input=` with the new files
 */
export function scaledInputs(
  inputs: readonly string[],
  isPositive: boolean,
  given = NOTHING_GIVEN,
): string[] {
  const path = (old: string, i: number) => join(dirname(old), `scaled-${i}-${basename(old)}`);
  const generated = inputs.flatMap((input, i) => (given.has(i) ? [] : [input]));
  const scaled = changedInputs(generated, path, ({ shape }) => {
    const scale = scaleOf(shape!);
    const of = (value: number) =>
      scale === null ? Math.max(1, Math.abs(value)) : scale * (isPositive ? Math.abs(value) : value);
    return { of, isPeriodic: true };
  });
  return inputs.map((input, i) => (given.has(i) ? input : scaled.shift()!));
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
