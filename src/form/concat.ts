// Channels of several images joined to one image: `tensor.concat` along the channels of (n, c, h, w).
import { bufferOf } from '../system/bytes.ts';
import { isTensor, tensorFromText, tensorText, typeName, type Tensor } from '../workload/tensor.ts';
import { isBetweenImages, type ReplaceableKind } from './form.ts';
import { listOf, permuted, type Value, type Writer, type Written } from './text.ts';
import { CHANNELS_LAST, CHANNELS_FIRST } from './parts.ts';

export interface Concat {
  readonly name: 'tensor.concat';
  readonly operands: readonly Tensor[];
  readonly result: Tensor;
}

const NAME = 'tensor.concat';

/** Images with channels have this rank, and channels are this dimension. */
const [RANK, CHANNELS] = [4, 1];

/** Such as `tensor.concat 1x24x9x9xf32,1x8x9x9xf32->1x32x9x9xf32`. */
const concatKey = ({ name, operands, result }: Concat): string => {
  const [out, ...all] = [result, ...operands].map(typeName);
  return `${name} ${all.join()}->${out!}`;
};

const STATEMENT = new RegExp(
  String.raw`= tensor\.concat dim\(${CHANNELS}\) [^:\n]*: \(([^()]*)\) -> (tensor<[^<>]*>)`,
  'g',
);

/** The static joins of channels in a text of the compiler. */
export function readConcats(text: Uint8Array): Concat[] {
  const bytes = bufferOf(text);
  if (!bytes.includes(NAME)) return [];
  return [...bytes.toString('latin1').matchAll(STATEMENT)].flatMap(([, types, type]) => {
    const concat = {
      name: NAME,
      operands: types!.split(', ').map(tensorFromText),
      result: tensorFromText(type!),
    };
    return isConcat(concat) ? [concat] : [];
  });
}

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
export function isConcat(value: unknown): value is Concat {
  const { name, operands, result } = (value ?? {}) as Partial<Record<keyof Concat, unknown>>;
  if (name !== NAME || !Array.isArray(operands) || operands.length === 0) return false;
  if (![result, ...(operands as unknown[])].every(isTensor)) return false;
  const [out, images] = [result as Tensor, operands as readonly Tensor[]];
  const channels = images.reduce((sum, { shape }) => sum + shape[CHANNELS]!, 0);
  return (
    out.shape.length === RANK &&
    channels === out.shape[CHANNELS] &&
    images.every(
      ({ shape, elementType }) =>
        elementType === out.elementType &&
        shape.length === RANK &&
        shape.every((size, d) => d === CHANNELS || size === out.shape[d]),
    )
  );
}

const concatText = (operands: readonly Value[], result: Tensor, dimension: number): string =>
  `tensor.concat dim(${dimension}) ${operands.map(({ name }) => name).join(', ')} : (${operands.map(tensorText).join(', ')}) -> ${tensorText(result)}`;

/** Joins the channels as the innermost dimension, between transposes that cancel with those of neighbours. */
function joinChannelsLast(writer: Writer, operands: readonly Value[], result: Tensor): Value {
  const moved = operands.map((one) => writer.move(one, CHANNELS_LAST));
  const into = permuted(result, CHANNELS_LAST);
  return writer.transpose(writer.define(into, concatText(moved, into, RANK - 1)), CHANNELS_FIRST);
}

/** A join as the program has it. */
const writtenConcat = ({ operands, result }: Concat): Written => {
  const images = operands.map((one, i) => ({ ...one, name: `%image${i}` }));
  return {
    operands: images,
    list: listOf(images),
    operation: concatText(images, result, CHANNELS),
    type: tensorText(result),
  };
};

export const concats: ReplaceableKind<Concat> = {
  is: isConcat,
  key: concatKey,
  read: (text) => readConcats(text),
  writtenOf: writtenConcat,
  resultOf: ({ result }) => result,
  formsOf: (concat, neighbours) =>
    isBetweenImages(concat, neighbours) ? [{ name: 'concat-channels-last' }] : [],
  write: (writer, { result }, operands) => ({
    value: joinChannelsLast(writer, operands, result),
    images: [result],
  }),
};
