// A convolution as a program writes it: its layout, shapes, strides and dilations.
import type { Operation } from 'mlir-parser-ts';
import { isIntegerWithin } from '../system/data.ts';
import { isSimpleType } from '../workload/element-type.ts';
import { staticTensor, tensorText, type Tensor } from '../workload/tensor.ts';

/** A named convolution over two dimensions of an image. */
export interface Convolution {
  /** Such as `linalg.conv_2d_nchw_fchw`. */
  readonly name: string;
  readonly image: Tensor;
  readonly filter: Tensor;
  readonly result: Tensor;
  /** Along rows and columns of the image. */
  readonly strides: readonly [number, number];
  readonly dilations: readonly [number, number];
}

/** Convolutions whose channels come before the dimensions of the image, by their name, with the ranks of two operands. */
const RANKS: Readonly<Record<string, readonly [image: number, filter: number]>> = {
  'linalg.conv_2d_nchw_fchw': [4, 4],
  'linalg.conv_2d_ngchw_gfchw': [5, 5],
  'linalg.depthwise_conv_2d_nchw_chw': [4, 3],
};

/**
 * The convolution that an operation of a text is.
 * @returns null for other operations, for dynamic shapes and for text that is not understood
 */
export function readConvolution(operation: Operation, text: Uint8Array): Convolution | null {
  const { name, operands, attributes } = operation;
  if (!Object.hasOwn(RANKS, name) || operands.length !== 3) return null;
  const [image, filter, result] = operands.map(({ type }) => staticTensor(type));
  if (!image || !filter || !result) return null;
  const pairOf = (attribute: string): readonly [number, number] | null => {
    const found = attributes.find((one) => one.name === attribute);
    // The default of both attributes.
    if (found === undefined) return [1, 1];
    return readPair(Buffer.from(text.subarray(found.start, found.end)).toString('latin1'));
  };
  const [strides, dilations] = [pairOf('strides'), pairOf('dilations')];
  if (strides === null || dilations === null) return null;
  const found = { name, image, filter, result, strides, dilations };
  return isConsistent(found) ? found : null;
}

/** `strides = dense<2> : vector<2xi64>` or `dense<[2, 1]> : tensor<2xi64>`. */
function readPair(text: string): readonly [number, number] | null {
  const match = /= *dense<(?:(\d+)|\[(\d+), *(\d+)\])> *: *(?:vector|tensor)<2xi64>$/.exec(text.trim());
  if (match === null) return null;
  const [, both, first, second] = match;
  return [Number(both ?? first), Number(both ?? second)];
}

/** Whether a value, of a file say, is a convolution as this type describes it: all of it is written into MLIR. */
export function isConvolution(value: unknown): value is Convolution {
  const { name, image, filter, result, strides, dilations } = (value ?? {}) as Partial<
    Record<keyof Convolution, unknown>
  >;
  return (
    typeof name === 'string' &&
    Object.hasOwn(RANKS, name) &&
    [image, filter, result].every(isTensor) &&
    [strides, dilations].every((pair) => isSizes(pair) && pair.length === 2) &&
    isConsistent(value as Convolution)
  );
}

function isTensor(value: unknown): value is Tensor {
  const { shape, elementType } = (value ?? {}) as Partial<Record<keyof Tensor, unknown>>;
  return isSizes(shape) && typeof elementType === 'string' && isSimpleType(elementType);
}

const isSizes = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((size) => isIntegerWithin(size, 1, Number.MAX_SAFE_INTEGER));

/** Channels, batch and groups of a convolution, in the order of their names. */
export interface Extents {
  readonly batch: number;
  readonly groups: number;
  /** Of the image and of the result, in each group. */
  readonly channels: number;
  readonly filters: number;
  /** Rows and columns. */
  readonly image: readonly [number, number];
  readonly filter: readonly [number, number];
  readonly result: readonly [number, number];
}

export function extentsOf({ name, image, filter, result }: Convolution): Extents {
  const pair = ({ shape }: Tensor) => [shape.at(-2)!, shape.at(-1)!] as const;
  const own = { image: pair(image), filter: pair(filter), result: pair(result), batch: image.shape[0]! };
  if (name === 'linalg.depthwise_conv_2d_nchw_chw')
    return { ...own, groups: image.shape[1]!, channels: 1, filters: 1 };
  if (name === 'linalg.conv_2d_nchw_fchw')
    return { ...own, groups: 1, channels: image.shape[1]!, filters: result.shape[1]! };
  return { ...own, groups: image.shape[1]!, channels: image.shape[2]!, filters: result.shape[2]! };
}

/** Whether ranks are those of the name, and the filter stays within the image. */
function isConsistent(convolution: Convolution): boolean {
  const { name, image, filter, result, strides, dilations } = convolution;
  const [imageRank, filterRank] = RANKS[name]!;
  if (
    image.shape.length !== imageRank ||
    result.shape.length !== imageRank ||
    filter.shape.length !== filterRank
  )
    return false;
  const { image: rows, filter: window, result: moved } = extentsOf(convolution);
  return [0, 1].every((i) => {
    const reach = (moved[i]! - 1) * strides[i]! + (window[i]! - 1) * dilations[i]! + 1;
    return strides[i]! > 0 && dilations[i]! > 0 && reach <= rows[i]!;
  });
}

/** Whether image, filter and result have one element type: conversions stay with the named operation. */
export const hasOneType = ({ image, filter, result }: Convolution): boolean =>
  image.elementType === result.elementType && filter.elementType === result.elementType;

/** Readable key: `conv_2d_nchw_fchw 1x64x58x58xf32,64x64x3x3xf32->1x64x56x56xf32 strides=1,1 dilations=1,1`. */
export function convolutionKey({ name, image, filter, result, strides, dilations }: Convolution): string {
  const [a, b, c] = [image, filter, result].map((one) => tensorText(one).slice('tensor<'.length, -1));
  return `${name.replace('linalg.', '')} ${a!},${b!}->${c!} strides=${strides.join()} dilations=${dilations.join()}`;
}
