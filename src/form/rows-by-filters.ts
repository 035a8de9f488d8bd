// Convolutions with a filter of one element as a product of pixels in rows and columns (h, w, c) and filters (c, f), for a chain of convolutions
// whose transposes cancel. The compiler writes such a result into the padded image of the next convolution. It writes no product
// with all pixels in one dimension there, so that padding is a copy.
import { channelsFirst } from './channels-first.ts';
import { extentsOf, type Convolution } from './convolution.ts';
import type { ConvolutionForm } from './form.ts';
import { everyOther } from './matmul.ts';
import { CHANNELS_FIRST, CHANNELS_LAST, movedAndWidened, PIXEL, widened } from './parts.ts';
import { pixelsByFilters } from './pixels-by-filters.ts';

/** Whether one of the readers has an image of the size of a convolution's result, padded by at most the reach of the reader's filter. */
export function isBeforePadding(convolution: Convolution, readers: readonly Convolution[]): boolean {
  const { batch, groups, filters, result } = extentsOf(channelsFirst(convolution));
  return readers.map(channelsFirst).some((reader) => {
    const { image, filter, ...own } = extentsOf(reader);
    const added = image.map((size, d) => size - result[d]!);
    return (
      own.batch === batch &&
      own.groups * own.channels === groups * filters &&
      added.every((size, d) => size >= 0 && size <= (filter[d]! - 1) * reader.dilations[d]!) &&
      added.some((size) => size > 0)
    );
  });
}

export const rowsByFilters: ConvolutionForm = {
  name: 'rows-by-filters',
  // One row or one column of pixels has one dimension in either form.
  isFor: (convolution) =>
    pixelsByFilters.isFor(convolution) && extentsOf(convolution).result.every((size) => size > 1),
  write(writer, convolution, [image, filter, accumulator]) {
    const { batch, filters, result } = extentsOf(convolution);
    const { elementType } = accumulator;
    const wide = widened(writer, writer.collapse(filter, PIXEL), elementType);
    const weights = writer.settle(writer.transpose(wide, [1, 0]));
    const moved = movedAndWidened(writer, image, CHANNELS_LAST, elementType);
    const read = everyOther(writer, moved, result, convolution.strides, 1);
    // The compiler drops the dimension of a single image, and its operation would be another one than the written operation.
    const [images, groups] = batch > 1 ? ['n', [[0], [1], [2], [3]]] : ['', [[0, 1], [2], [3]]];
    // The change of shape keeps transposes out of the product. Several images have none.
    const rows = batch > 1 ? writer.settle(read) : writer.collapse(read, groups);
    const into = writer.zeros({ elementType, shape: [...rows.shape.slice(0, -1), filters] });
    const product = writer.contraction([rows, weights], into, [`${images}hwk`, 'kp', `${images}hwp`]);
    // The accumulator is added last: see `pixelsByFilters`.
    const whole = writer.expand(product, groups, [batch, ...result, filters]);
    return writer.transpose(writer.add(whole, writer.transpose(accumulator, CHANNELS_LAST)), CHANNELS_FIRST);
  },
};
