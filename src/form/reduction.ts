// Poolings whose window is the whole image as a reduction of all pixels, with the channels innermost: for a chain of convolutions whose
// transposes cancel.
import { extentsOf, hasOneWidth, type Convolution } from './convolution.ts';
import { poolingOf } from './shifted-slices.ts';
import type { ConvolutionForm } from './form.ts';
import { CHANNELS_LAST, PIXEL, widened } from './parts.ts';

function isWhole(convolution: Convolution): boolean {
  const { image, filter } = extentsOf(convolution);
  return image.every((size, i) => size === filter[i]);
}

export const reduction: ConvolutionForm = {
  name: 'reduction',
  isFor: (convolution) =>
    convolution.name.startsWith('linalg.pooling_nchw_') &&
    poolingOf(convolution) !== undefined &&
    isWhole(convolution) &&
    hasOneWidth(convolution) &&
    /^b?f\d+$/.test(convolution.result.elementType),
  write(writer, convolution, [image, , accumulator]) {
    // The image often has a second reader, and a transpose that is fused here would not cancel.
    const moved = writer.settle(widened(writer, writer.move(image, CHANNELS_LAST), accumulator.elementType));
    const into = writer.collapse(accumulator, PIXEL);
    const reduced = writer.generic({
      ...{ loops: 'n, c, h, w', maps: ['n, h, w, c', 'n, c'], inputs: [moved], into },
      body: [`%s = ${poolingOf(convolution)!} %out, %x0 : ${into.elementType}`],
      gives: '%s',
    });
    return writer.expand(reduced, PIXEL, accumulator.shape);
  },
};
