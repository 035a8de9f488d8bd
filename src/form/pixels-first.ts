// Convolutions as matmuls with a row for each pixel of the result: pixels (p, c) times filters in blocks (blocks, c, width). For
// filters of one element over images with too few pixels to fill vectors. Also for convolutions of one dimension, whose default is
// scalar code: there, a row has all values that one pixel reads.
import { extentsOf, hasOneType, type Convolution } from './convolution.ts';
import type { ConvolutionForm } from './form.ts';
import { everyOther } from './matmul.ts';
import { CHANNELS_FIRST, CHANNELS_LAST, inBlocks, joined, widthOf } from './parts.ts';
import type { Value, Writer } from './text.ts';

const MOST_PIXELS = 256;

/** Up to so many filters are one block. */
const MOST_AT_ONCE = 64;

/** Most copies of the image. */
const MOST_READS = 16;

function widthFor(convolution: Convolution): number | null {
  const { filters } = extentsOf(convolution);
  return widthOf(filters, Infinity) ?? (filters <= MOST_AT_ONCE ? filters : null);
}

function isFewPixels(convolution: Convolution): boolean {
  const { filter, filters, result } = extentsOf(convolution);
  const pixels = result.reduce((product, size) => product * size, 1);
  return filter.every((size) => size === 1) && pixels <= MOST_PIXELS && filters > MOST_AT_ONCE;
}

/** Whether the image is one row, with a filter of several elements. */
function isInOneDimension(convolution: Convolution): boolean {
  const { image, filter } = extentsOf(convolution);
  return image[0] === 1 && filter[0] === 1 && filter[1]! > 1 && filter[1]! <= MOST_READS;
}

export const pixelsFirst: ConvolutionForm = {
  name: 'pixels-first',
  isFor: (convolution) =>
    convolution.name === 'linalg.conv_2d_nchw_fchw' &&
    (isFewPixels(convolution) || isInOneDimension(convolution)) &&
    hasOneType(convolution) &&
    widthFor(convolution) !== null,
  write(writer, convolution, [image, filter, accumulator]) {
    const { batch, result } = extentsOf(convolution);
    const width = widthFor(convolution)!;
    const blocks = writer.collapse(inBlocks(writer, filter, width), [[0], [1, 2, 3], [4]]);
    const [count] = blocks.shape as [number];
    const rows = rowsOf(writer, convolution, image);
    const into = writer.zeros({ ...accumulator, shape: [count, rows.shape[0]!, width] });
    const product = writer.contraction([writer.settle(rows), blocks], into, ['pk', 'bkf', 'bpf']);
    const shape = [count, batch, ...result, width];
    const results = writer.settle(writer.expand(product, [[0], [1, 2, 3], [4]], shape));
    return writer.add(writer.transpose(joined(writer, results), CHANNELS_FIRST), accumulator);
  },
};

/** A row for each pixel of the result, with all values that it reads: (p, w * c). */
function rowsOf(writer: Writer, convolution: Convolution, image: Value): Value {
  const { result, filter } = extentsOf(convolution);
  const { strides, dilations } = convolution;
  const reads = filter[1]!;
  const read = (at: number): Value => {
    const from = at * dilations[1]!;
    const [n, c, h, w] = image.shape as [number, number, number, number];
    const rest = writer.slice(image, [
      [0, n, 1],
      [0, c, 1],
      [0, h, 1],
      [from, w - from, 1],
    ]);
    return writer.transpose(everyOther(writer, rest, result, strides), CHANNELS_LAST);
  };
  if (reads === 1) return writer.collapse(read(0), [[0, 1, 2], [3]]);
  const rows = Array.from({ length: reads }, (_, at) => read(at));
  return writer.collapse(writer.stack(rows, 3), [
    [0, 1, 2],
    [3, 4],
  ]);
}
