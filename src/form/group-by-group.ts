// Grouped convolutions as one convolution for each group, with the channels innermost.
import { convolve } from './channels-last.ts';
import { extentsOf } from './convolution.ts';
import type { WrittenForm } from './form.ts';
import type { Value } from './text.ts';

/** Each group becomes a dispatch of its own. */
const MOST_GROUPS = 32;

/** Of a group: with fewer, vectors are not filled. */
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
    const { groups } = extentsOf(convolution);
    const { strides, dilations } = convolution;
    // With groups outermost and channels innermost each group lies in one piece. All of them are moved at once, and what is moved stays
    // out of the convolutions, which the compiler would make scalar code of.
    const outermost = (value: Value) => writer.settle(writer.transpose(value, [1, 0, 3, 4, 2]));
    const images = outermost(image);
    const filters = writer.settle(writer.transpose(filter, [0, 3, 4, 2, 1]));
    const sums = { ...accumulator, shape: [1, 0, 3, 4, 2].map((d) => accumulator.shape[d]!) };
    const part = (value: Value, group: number) =>
      writer.slice(
        value,
        value.shape.map((size, d) => (d === 0 ? [group, null, 1] : [0, size, 1])),
      );
    // What the result is added to comes last: as a part of each convolution it would not compile for several images.
    const none = writer.zeros({ ...sums, shape: sums.shape.slice(1) });
    let result = writer.empty(sums);
    for (let group = 0; group < groups; group++) {
      const operands = [part(images, group), part(filters, group), none] as const;
      result = writer.insert(convolve(writer, ...operands, [strides, dilations]), result, 0, group);
    }
    return writer.add(writer.transpose(writer.settle(result), [1, 0, 4, 2, 3]), accumulator);
  },
};
