// Convolutions in the layout that forms are written for: two dimensions, and the channels first. Convolutions of one dimension get a first
// dimension of size 1. Front ends such as StableHLO transpose images and filters to the channels innermost and back, and the transposes of these
// forms cancel theirs.
import type { Convolution } from './convolution.ts';
import { permuted, type Value, type Writer } from './text.ts';
import { CHANNELS_FIRST, CHANNELS_LAST } from './parts.ts';
import type { Tensor } from '../workload/tensor.ts';

/** The operands and the result of a convolution; the result has the layout of the accumulator. */
type Part = 'image' | 'filter' | 'result';

/** The way from another layout. */
interface Way {
  /** Strides and dilations of dimensions that the layout lacks. */
  readonly more: readonly number[];
  to(value: Tensor, part: Part): Tensor;
  write(writer: Writer, value: Value, part: Part): Value;
  /** Writes a result in the layout of the convolution. */
  writeBack(writer: Writer, result: Value): Value;
}

/** The reassociation of dimensions from one to two. */
const GROUPS = [[0], [1], [2, 3]];

const widened = ([n, c, w]: readonly number[]): number[] => [n!, c!, 1, w!];

/** From (h, w, c, f) to (f, c, h, w). */
const FILTERS_FIRST = [3, 2, 0, 1];

const permutationOf = (part: Part) => (part === 'filter' ? FILTERS_FIRST : CHANNELS_FIRST);

const NAME = 'linalg.conv_2d_nchw_fchw';

/** By the name of a convolution. */
const WAYS: Readonly<Record<string, Way>> = {
  'linalg.conv_1d_ncw_fcw': {
    more: [1],
    to: (value) => ({ ...value, shape: widened(value.shape) }),
    write: (writer, value) => writer.expand(value, GROUPS, widened(value.shape)),
    writeBack: (writer, result) => writer.collapse(result, GROUPS),
  },
  'linalg.conv_2d_nhwc_hwcf': {
    more: [],
    to: (value, part) => permuted(value, permutationOf(part)),
    write: (writer, value, part) => writer.transpose(value, permutationOf(part)),
    writeBack: (writer, result) => writer.transpose(result, CHANNELS_LAST),
  },
};

const wayFrom = ({ name }: Pick<Convolution, 'name'>): Way | null =>
  Object.hasOwn(WAYS, name) ? WAYS[name]! : null;

/** The convolution in two dimensions with the channels first. Other convolutions stay as they are. */
export function channelsFirst(convolution: Convolution): Convolution {
  const way = wayFrom(convolution);
  if (way === null) return convolution;
  const { image, filter, result, strides, dilations } = convolution;
  return {
    name: NAME,
    image: way.to(image, 'image'),
    filter: way.to(filter, 'filter'),
    result: way.to(result, 'result'),
    strides: [...way.more, ...strides],
    dilations: [...way.more, ...dilations],
  };
}

/** Writes an operand in the layout of `channelsFirst`. */
export const toChannelsFirst = (
  writer: Writer,
  convolution: Pick<Convolution, 'name'>,
  value: Value,
  part: Part,
): Value => wayFrom(convolution)?.write(writer, value, part) ?? value;

/** Writes a result in the layout of the convolution. */
export const fromChannelsFirst = (
  writer: Writer,
  convolution: Pick<Convolution, 'name'>,
  result: Value,
): Value => wayFrom(convolution)?.writeBack(writer, result) ?? result;
