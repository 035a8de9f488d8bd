// Convolutions with the channels innermost, a few filters at a time. A loop over vectors then reads the filter in one piece. Of hundreds
// of filters at once, it reads a few every some kilobytes, which take each other's place in the caches.
import { convolve } from './channels-last.ts';
import { extentsOf, type Convolution } from './convolution.ts';
import type { WrittenForm } from './form.ts';
import { inBlocks, joined, oneByOne, partOf, widthOf } from './parts.ts';

/** Each block is a call of its own. */
const MOST_BLOCKS = 32;

const widthFor = (convolution: Convolution): number | null =>
  widthOf(extentsOf(convolution).filters, MOST_BLOCKS);

export const blocksOfFilters: WrittenForm = {
  name: 'blocks-of-filters',
  isFor: (convolution) => convolution.name === 'linalg.conv_2d_nchw_fchw' && widthFor(convolution) !== null,
  write(writer, convolution, [image, filter, accumulator]) {
    const { strides, dilations } = convolution;
    const width = widthFor(convolution)!;
    const moved = writer.settle(writer.transpose(image, [0, 2, 3, 1]));
    // Moved all at once: with a function for each block, moving constants would take half of the compile.
    const blocks = inBlocks(writer, filter, width);
    const { batch, filters, result } = extentsOf(convolution);
    const shape = [filters / width, batch, ...result, width];
    const results = oneByOne(writer, shape, accumulator, (block, none) =>
      convolve(writer, moved, partOf(writer, blocks, block), none, [strides, dilations]),
    );
    return writer.add(joined(writer, results), accumulator);
  },
};
