// Convolutions with the channels innermost: the image, the filter and the result are transposed around the operation. The
// compiler has a pipeline for this layout, which loads vectors of channels. Transposes cancel between neighbours, and those of
// constants are done once, when the program is compiled.
import type { WrittenForm } from './form.ts';
import { tensorText } from '../workload/tensor.ts';
import { movesText, type Value, type Writer } from './text.ts';

export const channelsLast: WrittenForm = {
  name: 'channels-last',
  isFor: ({ name }) => name === 'linalg.conv_2d_nchw_fchw',
  write(writer, convolution, [image, filter, accumulator]) {
    const { strides, dilations } = convolution;
    const last = convolve(
      writer,
      // Fused into the convolution, the transpose would make scalar code of it.
      writer.settle(writer.transpose(image, [0, 2, 3, 1])),
      writer.settle(writer.transpose(filter, [2, 3, 1, 0])),
      writer.transpose(accumulator, [0, 2, 3, 1]),
      [strides, dilations],
    );
    return writer.transpose(last, [0, 3, 1, 2]);
  },
};

/** A convolution of an image (n, h, w, c) with a filter (h, w, c, f). */
export function convolve(
  writer: Writer,
  image: Value,
  filter: Value,
  accumulator: Value,
  [strides, dilations]: readonly [strides: readonly number[], dilations: readonly number[]],
): Value {
  return writer.define(
    accumulator,
    `linalg.conv_2d_nhwc_hwcf ${movesText(strides, dilations)} ins(${image.name}, ${filter.name} : ${tensorText(image)}, ${tensorText(filter)}) outs(${accumulator.name} : ${tensorText(accumulator)}) -> ${tensorText(accumulator)}`,
  );
}
