// Convolutions with a filter of one element as matmuls with the channels innermost: pixels (n * h * w, c) times filters (c, f), for a chain
// of convolutions whose transposes cancel.
import { extentsOf, hasOneWidth } from './convolution.ts';
import type { ConvolutionForm } from './form.ts';
import { everyOther } from './matmul.ts';
import {
  CHANNELS_LAST,
  CHANNELS_FIRST,
  movedAndWidened,
  PIXEL,
  pixelsTimes,
  rowsTimes,
  widened,
} from './parts.ts';

export const pixelsByFilters: ConvolutionForm = {
  name: 'pixels-by-filters',
  isFor: (convolution) =>
    convolution.name === 'linalg.conv_2d_nchw_fchw' &&
    extentsOf(convolution).filter.every((size) => size === 1) &&
    hasOneWidth(convolution),
  write(writer, convolution, [image, filter, accumulator]) {
    const { batch, filters, image: places, result } = extentsOf(convolution);
    /** An image of one pixel has its channels innermost in any layout. */
    const isPixel = places.every((size) => size === 1);
    const { elementType } = accumulator;
    const wide = widened(writer, writer.collapse(filter, PIXEL), elementType);
    const weights = writer.settle(writer.transpose(wide, [1, 0]));
    // The accumulator is added last, where the compiler fuses it. It is mostly a bias for each filter, which would be written for each pixel
    // and read again if the product began with it.
    if (isPixel) {
      const row = widened(writer, writer.collapse(image, PIXEL), elementType);
      const product = rowsTimes(writer, row, weights);
      const sum = writer.add(product, writer.collapse(accumulator, PIXEL));
      return writer.expand(sum, PIXEL, [batch, filters, ...result]);
    }
    const moved = movedAndWidened(writer, image, CHANNELS_LAST, elementType);
    const read = everyOther(writer, moved, result, convolution.strides, 1);
    const product = pixelsTimes(writer, read, weights, [batch, ...result, filters]);
    const sum = writer.add(product, writer.transpose(accumulator, CHANNELS_LAST));
    return writer.transpose(sum, CHANNELS_FIRST);
  },
};
