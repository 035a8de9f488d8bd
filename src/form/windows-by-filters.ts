// Convolutions of integers as a product: each window of the image, copied to a row, times the filters. The copy is small beside the product,
// whose operands the compiler packs for the integer instructions of the processor. It has no such code for convolutions.
import { extentsOf, type Convolution } from './convolution.ts';
import { isFloat } from '../workload/element-type.ts';
import { tensorText } from '../workload/tensor.ts';
import type { WrittenForm } from './form.ts';
import { CHANNELS_FIRST, CHANNELS_LAST, rowsTimes } from './parts.ts';
import type { Value, Writer } from './text.ts';

/** The pixels of a result (n, h, w, f) in one dimension. */
const PIXELS = [[0, 1, 2], [3]];

export const windowsByFilters: WrittenForm = {
  name: 'windows-by-filters',
  isFor: ({ name, image }) => name === 'linalg.conv_2d_nchw_fchw' && !isFloat(image.elementType),
  write(writer, convolution, [image, filter, accumulator]) {
    const { batch, filters, result } = extentsOf(convolution);
    const rows = windowsOf(writer, writer.move(image, CHANNELS_LAST), convolution);
    const weights = writer.collapse(writer.transpose(filter, [2, 3, 1, 0]), [[0, 1, 2], [3]]);
    const product = rowsTimes(writer, rows, writer.settle(weights), accumulator.elementType);
    const own = writer.expand(product, PIXELS, [batch, ...result, filters]);
    const sum = writer.add(own, writer.transpose(accumulator, CHANNELS_LAST));
    return writer.transpose(sum, CHANNELS_FIRST);
  },
};

/**
 * The window of each pixel (n, h, w, c) as a row: (n * h * w, y * x * c). The elements of a row of a window are contiguous in the image, too, unless the
 * filter is dilated.
 */
function windowsOf(writer: Writer, image: Value, convolution: Convolution): Value {
  const { strides, dilations } = convolution;
  const { batch, channels, filter, result } = extentsOf(convolution);
  const [rows, columns] = filter as [number, number];
  const row = `h * ${strides[0]!} + y * ${dilations[0]!}`;
  const isContiguous = dilations[1] === 1;
  const [from, shape, loops, place] = isContiguous
    ? [
        writer.collapse(image, [[0], [1], [2, 3]]),
        [batch, ...result, rows, columns * channels],
        'n, h, w, y, e',
        `n, ${row}, w * ${strides[1]! * channels} + e`,
      ]
    : [
        image,
        [batch, ...result, rows, columns, channels],
        'n, h, w, y, x, c',
        `n, ${row}, w * ${strides[1]!} + x * ${dilations[1]!}, c`,
      ];
  const into = writer.empty({ ...image, shape });
  const copied = writer.define(
    into,
    `linalg.generic {indexing_maps = [affine_map<(${loops}) -> (${place})>, affine_map<(${loops}) -> (${loops})>], iterator_types = [${shape.map(() => '"parallel"').join(', ')}]} ins(${from.name} : ${tensorText(from)}) outs(${into.name} : ${tensorText(into)}) {
    ^bb0(%a: ${image.elementType}, %out: ${image.elementType}):
      linalg.yield %a : ${image.elementType}
    } -> ${tensorText(into)}`,
  );
  return writer.collapse(copied, [[0, 1, 2], isContiguous ? [3, 4] : [3, 4, 5]]);
}
