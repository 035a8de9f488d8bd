// Grouped convolutions as one convolution for each group, with the channels innermost.
import { convolve } from './channels-last.ts';
import { extentsOf } from './convolution.ts';
import type { WrittenForm } from './form.ts';
import { oneByOne, partOf } from './parts.ts';

/** Each group is a separate convolution. */
const MOST_GROUPS = 32;

/** Filters of each group. Fewer do not fill vectors. */
const LEAST_FILTERS = 8;

export const groupByGroup: WrittenForm = {
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
    const images = writer.settle(writer.transpose(image, [1, 0, 3, 4, 2]));
    const filters = writer.settle(writer.transpose(filter, [0, 3, 4, 2, 1]));
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
