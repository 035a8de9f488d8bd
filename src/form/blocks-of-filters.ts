// Convolutions with the channels innermost, in blocks of filters. The inner loop then reads contiguous filter data. With hundreds
// of filters at once, its reads are kilobytes apart and evict each other from the caches.
import { convolve } from './channels-last.ts';
import { extentsOf, type Convolution } from './convolution.ts';
import type { WrittenForm } from './form.ts';
import { CHANNELS_FIRST, CHANNELS_LAST, inBlocks, joined, oneByOne, partOf, widthOf } from './parts.ts';

/** Each block is a separate convolution. */
const MOST_BLOCKS = 32;

const widthFor = (convolution: Convolution): number | null =>
  widthOf(extentsOf(convolution).filters, MOST_BLOCKS);

export const blocksOfFilters: WrittenForm = {
  name: 'blocks-of-filters',
  isFor: (convolution) => convolution.name === 'linalg.conv_2d_nchw_fchw' && widthFor(convolution) !== null,
  write(writer, convolution, [image, filter, accumulator]) {
    const { strides, dilations } = convolution;
    const width = widthFor(convolution)!;
    const moved = writer.move(image, CHANNELS_LAST);
    // One transpose for all blocks: one for each block would double the compile time of constant filters.
    const blocks = inBlocks(writer, filter, width);
    const { batch, filters, result } = extentsOf(convolution);
    const shape = [filters / width, batch, ...result, width];
    const results = oneByOne(writer, shape, accumulator, (block, none) =>
      convolve(writer, moved, partOf(writer, blocks, block), none, [strides, dilations]),
    );
    const sum = writer.add(joined(writer, results), writer.transpose(accumulator, CHANNELS_LAST));
    return writer.transpose(sum, CHANNELS_FIRST);
  },
};
