// Convolutions with a filter of one element as matmuls with the channels innermost: pixels (n * h * w, c) times filters (c, f), for a chain
// of convolutions whose transposes cancel.
import { extentsOf, hasOneType } from './convolution.ts';
import type { WrittenForm } from './form.ts';
import { everyOther } from './matmul.ts';
import type { Value } from './text.ts';
import { CHANNELS_LAST, CHANNELS_FIRST, PIXEL } from './parts.ts';

/** Collapses (n, h, w, c). */
const FLAT = [[0, 1, 2], [3]];

export const pixelsByFilters: WrittenForm = {
  name: 'pixels-by-filters',
  isFor: (convolution) =>
    convolution.name === 'linalg.conv_2d_nchw_fchw' &&
    extentsOf(convolution).filter.every((size) => size === 1) &&
    hasOneType(convolution),
  write(writer, convolution, [image, filter, accumulator]) {
    const { batch, filters, image: places, result } = extentsOf(convolution);
    /** An image of one pixel has its channels innermost in any layout. */
    const isPixel = places.every((size) => size === 1);
    const flat = (value: Value, moved: () => Value) =>
      isPixel ? writer.collapse(value, PIXEL) : writer.collapse(moved(), FLAT);
    const pixels = flat(image, () =>
      everyOther(writer, writer.move(image, CHANNELS_LAST), result, convolution.strides, 1),
    );
    const weights = writer.settle(writer.transpose(writer.collapse(filter, PIXEL), [1, 0]));
    const shape = [pixels.shape[0]!, filters];
    const product = writer.contraction([pixels, weights], writer.zeros({ ...accumulator, shape }), [
      'mk',
      'kp',
      'mp',
    ]);
    // The accumulator is added last, where the compiler fuses it. It is mostly a bias for each filter, which would be written for each pixel
    // and read again if the product began with it.
    if (isPixel) {
      const into = writer.collapse(accumulator, PIXEL);
      return writer.expand(writer.add(product, into), PIXEL, [batch, filters, ...result]);
    }
    const last = writer.expand(product, FLAT, [batch, ...result, filters]);
    return writer.transpose(writer.add(last, writer.transpose(accumulator, CHANNELS_LAST)), CHANNELS_FIRST);
  },
};
