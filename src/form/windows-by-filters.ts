// Convolutions of integers as a product: each window of the image, copied to a row, times the filters. The copy is small beside the product,
// whose operands the compiler packs for the integer instructions of the processor. It has no such code for convolutions.
import { extentsOf, type Convolution } from './convolution.ts';
import { isFloat } from '../workload/element-type.ts';
import type { WrittenForm } from './form.ts';
import { everyOther } from './matmul.ts';
import { productOfIntegers } from './packed-product.ts';
import { CHANNELS_FIRST, CHANNELS_LAST } from './parts.ts';
import type { Value, Writer } from './text.ts';

export const windowsByFilters: WrittenForm = {
  name: 'windows-by-filters',
  packing: 'possible',
  isFor: ({ name, widening, image: { elementType } }) => {
    if (widening === 'arith.extui') return elementType === 'i8';
    return widening !== undefined || (name === 'linalg.conv_2d_nchw_fchw' && !isFloat(elementType));
  },
  write(writer, convolution, [image, filter, accumulator], packing) {
    const { batch, filters, result } = extentsOf(convolution);
    // Settled: steps that quantize are scalar code if the packing of the rows is fused into them.
    const rows = writer.settle(windowsOf(writer, writer.move(image, CHANNELS_LAST), convolution));
    const weights = writer.settle(writer.collapse(writer.transpose(filter, [2, 3, 1, 0]), [[0, 1, 2], [3]]));
    const widenings = [convolution.widening ?? 'arith.extsi', 'arith.extsi'] as const;
    const shape = [batch, ...result, filters];
    const own = productOfIntegers(writer, [rows, weights], { widenings, packing, shape });
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
  if (rows * columns === 1)
    return writer.collapse(everyOther(writer, image, result, strides, 1), [[0, 1, 2], [3]]);
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
  const copied = writer.generic({ loops, maps: [place, loops], inputs: [from], into });
  return writer.collapse(copied, [[0, 1, 2], isContiguous ? [3, 4] : [3, 4, 5]]);
}
