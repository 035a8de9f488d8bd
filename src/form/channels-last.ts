// Convolutions with the channels innermost: whole, in blocks of filters, or group by group, between transposes of image, filter and result.
// The compiler has a pipeline for this layout that loads vectors of channels. Transposes of neighbours cancel, and constants are transposed
// at compile time.
import { extentsOf, type Convolution } from './convolution.ts';
import type { ConvolutionForm } from './form.ts';
import { tensorText } from '../workload/tensor.ts';
import { movesText, type Value, type Writer } from './text.ts';
import {
  CHANNELS_FIRST,
  CHANNELS_LAST,
  inBlocks,
  joined,
  movedAndWidened,
  oneByOne,
  partOf,
  widened,
  widthOf,
} from './parts.ts';

export const channelsLast: ConvolutionForm = {
  name: 'channels-last',
  isFor: ({ name }) => name === 'linalg.conv_2d_nchw_fchw',
  write(writer, convolution, [image, filter, accumulator]) {
    const { strides, dilations } = convolution;
    const { elementType } = accumulator;
    const last = convolve(
      writer,
      movedAndWidened(writer, image, CHANNELS_LAST, elementType),
      writer.settle(writer.transpose(widened(writer, filter, elementType), [2, 3, 1, 0])),
      writer.transpose(accumulator, CHANNELS_LAST),
      [strides, dilations],
    );
    return writer.transpose(last, CHANNELS_FIRST);
  },
};

/** A convolution of an image (n, h, w, c) with a filter (h, w, c, f). */
export function convolve(
  writer: Writer,
  image: Value,
  filter: Value,
  accumulator: Value,
  [strides, dilations]: readonly [strides: readonly number[], dilations: readonly number[]],
): Value {
  return writer.define(
    accumulator,
    `linalg.conv_2d_nhwc_hwcf ${movesText(strides, dilations)} ins(${image.name}, ${filter.name} : ${tensorText(image)}, ${tensorText(filter)}) outs(${accumulator.name} : ${tensorText(accumulator)}) -> ${tensorText(accumulator)}`,
  );
}

/** Each block is a separate convolution. */
const MOST_BLOCKS = 32;

const widthFor = (convolution: Convolution): number | null =>
  widthOf(extentsOf(convolution).filters, MOST_BLOCKS);

/**
 * In blocks of filters. The inner loop then reads contiguous filter data. With hundreds of filters at once, its reads are kilobytes apart and
 * evict each other from the caches.
 */
export const blocksOfFilters: ConvolutionForm = {
  name: 'blocks-of-filters',
  isFor: (convolution) => convolution.name === 'linalg.conv_2d_nchw_fchw' && widthFor(convolution) !== null,
  write(writer, convolution, [image, filter, accumulator]) {
    const { strides, dilations } = convolution;
    const width = widthFor(convolution)!;
    const { elementType } = accumulator;
    const moved = movedAndWidened(writer, image, CHANNELS_LAST, elementType);
    // One transpose for all blocks: one for each block would double the compile time of constant filters.
    const blocks = inBlocks(writer, widened(writer, filter, elementType), width);
    const { batch, filters, result } = extentsOf(convolution);
    const shape = [filters / width, batch, ...result, width];
    const results = oneByOne(writer, shape, accumulator, (block, none) =>
      convolve(writer, moved, partOf(writer, blocks, block), none, [strides, dilations]),
    );
    const sum = writer.add(joined(writer, results), writer.transpose(accumulator, CHANNELS_LAST));
    return writer.transpose(sum, CHANNELS_FIRST);
  },
};

/** Each group is a separate convolution. */
const MOST_GROUPS = 128;

/** Filters of each group. Fewer do not fill vectors. */
const LEAST_FILTERS = 8;

/** One convolution for each group. */
export const groupByGroup: ConvolutionForm = {
  name: 'group-by-group',
  isFor: (convolution) => {
    const { groups, channels, filters } = extentsOf(convolution);
    return (
      convolution.name === 'linalg.conv_2d_ngchw_gfchw' &&
      groups <= MOST_GROUPS &&
      channels > 1 &&
      filters >= LEAST_FILTERS
    );
  },
  write(writer, convolution, [image, filter, accumulator]) {
    const { strides, dilations } = convolution;
    // With groups outermost and channels innermost, each group is contiguous. One settled transpose moves all groups: fused into
    // the convolutions, it would make them scalar code.
    const [images, filters] = [[image, [1, 0, 3, 4, 2]] as const, [filter, [0, 3, 4, 2, 1]] as const].map(
      ([one, order]) => writer.settle(writer.transpose(widened(writer, one, accumulator.elementType), order)),
    ) as [Value, Value];
    const [n, , f, h, w] = accumulator.shape as [number, number, number, number, number];
    const results = oneByOne(
      writer,
      [extentsOf(convolution).groups, n, h, w, f],
      accumulator,
      (group, none) =>
        convolve(writer, partOf(writer, images, group), partOf(writer, filters, group), none, [
          strides,
          dilations,
        ]),
    );
    // The accumulator is added last: inside the convolutions, several images do not compile.
    return writer.add(writer.transpose(results, [1, 0, 4, 2, 3]), accumulator);
  },
};
