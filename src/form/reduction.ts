// Poolings whose window is the whole image as a reduction of all pixels, with the channels innermost: for a chain of convolutions whose
// transposes cancel.
import { extentsOf, hasOneType, type Convolution } from './convolution.ts';
import { poolingOf } from './shifted-slices.ts';
import type { WrittenForm } from './form.ts';
import { tensorText } from '../workload/tensor.ts';
import { CHANNELS_LAST, PIXEL } from './parts.ts';

function isWhole(convolution: Convolution): boolean {
  const { image, filter } = extentsOf(convolution);
  return image.every((size, i) => size === filter[i]);
}

export const reduction: WrittenForm = {
  name: 'reduction',
  isFor: (convolution) =>
    convolution.name.startsWith('linalg.pooling_nchw_') &&
    poolingOf(convolution) !== undefined &&
    isWhole(convolution) &&
    hasOneType(convolution) &&
    /^b?f\d+$/.test(convolution.result.elementType),
  write(writer, convolution, [image, , accumulator]) {
    // The image often has a second reader, and a transpose that is fused here would not cancel.
    const moved = writer.settle(writer.move(image, CHANNELS_LAST));
    const into = writer.collapse(accumulator, PIXEL);
    const [a, b] = [moved, into].map(tensorText);
    const type = into.elementType;
    const reduced = writer.define(
      into,
      `linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, h, w, c)>, affine_map<(n, c, h, w) -> (n, c)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(${moved.name} : ${a!}) outs(${into.name} : ${b!}) {
    ^bb0(%in: ${type}, %out: ${type}):
      %s = ${poolingOf(convolution)!} %out, %in : ${type}
      linalg.yield %s : ${type}
    } -> ${b!}`,
    );
    return writer.expand(reduced, PIXEL, accumulator.shape);
  },
};
