// Convolutions with the channels innermost, between transposes of image, filter and result. The compiler has a pipeline for this
// layout that loads vectors of channels. Transposes of neighbours cancel, and constants are transposed at compile time.
import type { WrittenForm } from './form.ts';
import { tensorText } from '../workload/tensor.ts';
import { movesText, type Value, type Writer } from './text.ts';
import { CHANNELS_LAST, CHANNELS_FIRST } from './parts.ts';

export const channelsLast: WrittenForm = {
  name: 'channels-last',
  isFor: ({ name }) => name === 'linalg.conv_2d_nchw_fchw',
  write(writer, convolution, [image, filter, accumulator]) {
    const { strides, dilations } = convolution;
    const last = convolve(
      writer,
      writer.move(image, CHANNELS_LAST),
      writer.settle(writer.transpose(filter, [2, 3, 1, 0])),
      writer.transpose(accumulator, CHANNELS_LAST),
      [strides, dilations],
    );
    return writer.transpose(last, CHANNELS_FIRST);
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
