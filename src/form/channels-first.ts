// Convolutions in the layout that forms are written for: two dimensions, and the channels first. Convolutions of one dimension get a first
// dimension of size 1. Of three dimensions, each slice of the result is an image of the batch, and the slices that it reads are its channels. Front ends
// such as StableHLO transpose images and filters to the channels innermost and back, and the transposes of these forms cancel theirs.
import type { Convolution } from './convolution.ts';
import { permuted, type Value, type Writer } from './text.ts';
import { CHANNELS_FIRST } from './parts.ts';
import type { Tensor } from '../workload/tensor.ts';

/** The operands and the result of a convolution; the result has the layout of the accumulator. */
type Part = 'image' | 'filter' | 'result';

/** The way from another layout. */
interface Way {
  /** Strides or dilations. */
  moves(own: readonly number[]): readonly number[];
  to(value: Tensor, part: Part, convolution: Convolution): Tensor;
  write(writer: Writer, value: Value, part: Part, convolution: Convolution): Value;
  /** Writes a result in the layout of the convolution. */
  writeBack(writer: Writer, result: Value, convolution: Convolution): Value;
}

/** The reassociation of dimensions from one to two. */
const GROUPS = [[0], [1], [2, 3]];

const widened = ([n, c, w]: readonly number[]): number[] => [n!, c!, 1, w!];

/** From (n, c, d, h, w) to (n, d, c, h, w), and back. */
const SLICES_FIRST = [0, 2, 1, 3, 4];

/** In two dimensions: slices of the batch (n, d, c, h, w), and slices of a filter (f, d, c, h, w). */
const OF_BATCH = [[0, 1], [2], [3], [4]];
const OF_CHANNELS = [[0], [1, 2], [3], [4]];

const inSlices: Way = {
  moves: ([, ...flat]) => flat,
  to({ shape, elementType }, part, { filter, result }) {
    const [first, channels, , ...flat] = shape as [number, number, number, ...number[]];
    const [count, depth] = [result, filter].map((one) => one.shape[2]!) as [number, number];
    const outer = {
      image: [first * count, depth * channels],
      filter: [first, depth * channels],
      result: [first * count, channels],
    }[part];
    return { elementType, shape: [...outer, ...flat] };
  },
  write(writer, value, part, convolution) {
    if (part === 'image') return readSlices(writer, value, convolution);
    const slices = writer.transpose(value, SLICES_FIRST);
    return writer.collapse(slices, part === 'filter' ? OF_CHANNELS : OF_BATCH);
  },
  writeBack(writer, result, { result: { shape } }) {
    const expanded = SLICES_FIRST.map((d) => shape[d]!);
    return writer.transpose(writer.expand(result, OF_BATCH, expanded), SLICES_FIRST);
  },
};

/**
 * The slices of an image (n, c, d, h, w) that each slice of a result reads: (n * d, kd * c, h, w). They are copied with the channels innermost, as most
 * forms read them, so that copies are contiguous.
 */
function readSlices(
  writer: Writer,
  image: Value,
  { filter, result, strides, dilations }: Convolution,
): Value {
  const [batch, channels, , height, width] = image.shape as [number, number, number, number, number];
  const [count, depth] = [result, filter].map(({ shape }) => shape[2]!) as [number, number];
  const last = writer.move(image, [0, 2, 3, 4, 1]);
  const read = Array.from({ length: depth }, (_, place) =>
    writer.slice(last, [
      [0, batch, 1],
      [place * dilations[0]!, count, strides[0]!],
      [0, height, 1],
      [0, width, 1],
      [0, channels, 1],
    ]),
  );
  const rows = writer.collapse(writer.stack(read, 4), [[0, 1], [2], [3], [4, 5]]);
  return writer.transpose(writer.settle(rows), CHANNELS_FIRST);
}

/** From the channels innermost to the channels first: (n, h, w, c) to (n, c, h, w), and of a filter (h, w, c, f) to (f, c, h, w). */
function firstOf({ shape }: Tensor, part: Part): readonly number[] {
  const spatial = Array.from({ length: shape.length - 2 }, (_, d) => d);
  const last = shape.length - 1;
  return part === 'filter' ? [last, last - 1, ...spatial] : [0, last, ...spatial.map((d) => d + 1)];
}

/** Back: (n, c, h, w) to (n, h, w, c). */
const lastOf = ({ shape }: Tensor): readonly number[] => [
  0,
  ...Array.from({ length: shape.length - 2 }, (_, d) => d + 2),
  1,
];

/** The way of a convolution with the channels innermost. @param way of the same convolution with the channels first */
function innermost(way: Way): Way {
  const first = (value: Tensor, part: Part) => permuted(value, firstOf(value, part));
  const moved = ({ image, filter, result, ...own }: Convolution): Convolution => ({
    ...own,
    ...{ image: first(image, 'image'), filter: first(filter, 'filter'), result: first(result, 'result') },
  });
  return {
    moves: (own) => way.moves(own),
    to: (value, part, convolution) => way.to(first(value, part), part, moved(convolution)),
    write: (writer, value, part, convolution) =>
      way.write(writer, writer.transpose(value, firstOf(value, part)), part, moved(convolution)),
    writeBack(writer, result, convolution) {
      const back = way.writeBack(writer, result, moved(convolution));
      return writer.transpose(back, lastOf(back));
    },
  };
}

/** Of a convolution of two dimensions. */
const asItIs: Way = {
  moves: (own) => own,
  to: (value) => value,
  write: (_, value) => value,
  writeBack: (_, result) => result,
};

const NAME = 'linalg.conv_2d_nchw_fchw';

/** By the name of a convolution. */
const WAYS: Readonly<Record<string, Way>> = {
  'linalg.conv_1d_ncw_fcw': {
    moves: (own) => [1, ...own],
    to: (value) => ({ ...value, shape: widened(value.shape) }),
    write: (writer, value) => writer.expand(value, GROUPS, widened(value.shape)),
    writeBack: (writer, result) => writer.collapse(result, GROUPS),
  },
  'linalg.conv_2d_nhwc_hwcf': innermost(asItIs),
  'linalg.conv_3d_ncdhw_fcdhw': inSlices,
  'linalg.conv_3d_ndhwc_dhwcf': innermost(inSlices),
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
    image: way.to(image, 'image', convolution),
    filter: way.to(filter, 'filter', convolution),
    result: way.to(result, 'result', convolution),
    strides: way.moves(strides),
    dilations: way.moves(dilations),
  };
}

/** Writes an operand in the layout of `channelsFirst`. */
export const toChannelsFirst = (writer: Writer, convolution: Convolution, value: Value, part: Part): Value =>
  wayFrom(convolution)?.write(writer, value, part, convolution) ?? value;

/** Writes a result in the layout of the convolution. */
export const fromChannelsFirst = (writer: Writer, convolution: Convolution, result: Value): Value =>
  wayFrom(convolution)?.writeBack(writer, result, convolution) ?? result;
