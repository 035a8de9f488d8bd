// Grouped convolutions as one convolution for each group, with the channels innermost.
import { channelsLast } from './channels-last.ts';
import { extentsOf, type Convolution } from './convolution.ts';
import type { WrittenForm } from './form.ts';
import type { Value } from './text.ts';

/** Each group becomes a dispatch of its own. */
const MOST_GROUPS = 8;

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
    const without = (value: Value, d: number) => value.shape.filter((_, at) => at !== d);
    const one: Convolution = {
      ...convolution,
      name: 'linalg.conv_2d_nchw_fchw',
      image: { ...image, shape: without(image, 1) },
      filter: { ...filter, shape: without(filter, 0) },
      result: { ...accumulator, shape: without(accumulator, 1) },
    };
    /** One group of a value, which has them in dimension `d`. */
    const part = (value: Value, d: number, group: number) =>
      writer.slice(
        value,
        value.shape.map((size, at) => (at === d ? [group, null, 1] : [0, size, 1])),
      );
    let result = accumulator;
    for (let group = 0; group < groups; group++) {
      const operands = [part(image, 1, group), part(filter, 0, group), part(accumulator, 1, group)] as const;
      result = writer.insert(channelsLast.write(writer, one, operands), result, 1, group);
    }
    return result;
  },
};
