// Convolutions of one dimension as convolutions of two, with a first dimension of size 1. Forms and the compiler support these.
import type { Convolution } from './convolution.ts';
import type { Tensor } from '../workload/tensor.ts';
import type { Value, Writer } from './text.ts';

/** For each name with one dimension, the name with two. */
const NAMES: Readonly<Record<string, string>> = { 'linalg.conv_1d_ncw_fcw': 'linalg.conv_2d_nchw_fchw' };

const has = (name: string): boolean => Object.hasOwn(NAMES, name);

/** The reassociation of dimensions from one to two. */
const GROUPS = [[0], [1], [2, 3]];

const widened = ([n, c, w]: readonly number[]): number[] => [n!, c!, 1, w!];

/** The convolution in two dimensions. Other convolutions stay as they are. */
export function inTwoDimensions(convolution: Convolution): Convolution {
  const { name, image, filter, result, strides, dilations } = convolution;
  if (!has(name)) return convolution;
  const wide = <T extends Tensor>(value: T): T => ({ ...value, shape: widened(value.shape) });
  return {
    name: NAMES[name]!,
    ...{ image: wide(image), filter: wide(filter), result: wide(result) },
    ...{ strides: [1, ...strides], dilations: [1, ...dilations] },
  };
}

/** An operand of a convolution, in two dimensions. */
export const widen = (writer: Writer, { name }: Pick<Convolution, 'name'>, value: Value): Value =>
  has(name) ? writer.expand(value, GROUPS, widened(value.shape)) : value;

/** A result, in the dimensions of the convolution. */
export const narrow = (writer: Writer, { name }: Pick<Convolution, 'name'>, value: Value): Value =>
  has(name) ? writer.collapse(value, GROUPS) : value;
