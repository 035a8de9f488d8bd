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
    const into = flat(accumulator, () => writer.transpose(accumulator, CHANNELS_LAST));
    const multiply = (sum: Value) => writer.contraction([pixels, weights], sum, ['mk', 'kp', 'mp']);
    // The compiler puts a small constant into the code, and refuses to write into it in code that is not distributed.
    if (isPixel)
      return writer.expand(writer.add(multiply(writer.zeros(into)), into), PIXEL, [
        batch,
        filters,
        ...result,
      ]);
    const product = multiply(into);
    return writer.transpose(writer.expand(product, FLAT, [batch, ...result, filters]), CHANNELS_FIRST);
  },
};
