// Convolutions of one dimension as those of two, of which the first is one element: forms and the compiler know these.
import type { Convolution } from './convolution.ts';
import type { Tensor } from '../workload/tensor.ts';
import type { Value, Writer } from './text.ts';

/** Names of convolutions of two dimensions, by those of one. */
const NAMES: Readonly<Record<string, string>> = { 'linalg.conv_1d_ncw_fcw': 'linalg.conv_2d_nchw_fchw' };

const has = (name: string): boolean => Object.hasOwn(NAMES, name);

/** The dimensions of a value with one dimension, in two. */
const GROUPS = [[0], [1], [2, 3]];

const widened = ([n, c, w]: readonly number[]): number[] => [n!, c!, 1, w!];

/** The same convolution; others are as they are. */
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

/** A result, in the dimensions that the convolution has. */
export const narrow = (writer: Writer, { name }: Pick<Convolution, 'name'>, value: Value): Value =>
  has(name) ? writer.collapse(value, GROUPS) : value;
