// Convolutions with a filter of one element as a product of matrices whose rows are pixels, for images whose few pixels do not fill
// vectors: image (p, c) times filters in blocks (blocks, c, width).
import { extentsOf, hasOneType, type Convolution } from './convolution.ts';
import type { WrittenForm } from './form.ts';
import { everyOther } from './matmul.ts';
import { channelsFirst, inBlocks, sumsInBlocks, widthOf } from './parts.ts';

const MOST_PIXELS = 256;

const widthFor = (convolution: Convolution): number | null =>
  widthOf(extentsOf(convolution).filters, Infinity);

export const pixelsFirst: WrittenForm = {
  name: 'pixels-first',
  isFor: (convolution) => {
    const { filter, result } = extentsOf(convolution);
    return (
      convolution.name === 'linalg.conv_2d_nchw_fchw' &&
      filter.every((size) => size === 1) &&
      result.reduce((pixels, size) => pixels * size, 1) <= MOST_PIXELS &&
      hasOneType(convolution) &&
      widthFor(convolution) !== null
    );
  },
  write(writer, convolution, [image, filter, accumulator]) {
    const { result } = extentsOf(convolution);
    const read = everyOther(writer, image, result, convolution.strides);
    const rows = writer.collapse(writer.transpose(read, [0, 2, 3, 1]), [[0, 1, 2], [3]]);
    const blocks = writer.collapse(inBlocks(writer, filter, widthFor(convolution)!), [[0], [1, 2, 3], [4]]);
    const sums = sumsInBlocks(accumulator, widthFor(convolution)!);
    const [n, count, wide, h, w] = sums.shape as [number, number, number, number, number];
    const into = writer.zeros({ ...sums, shape: [count, rows.shape[0]!, wide] });
    const settled = [writer.settle(rows), writer.settle(blocks)] as const;
    const product = writer.contraction(settled, into, ['pk', 'bkf', 'bpf']);
    const apart = writer.expand(product, [[0], [1, 2, 3], [4]], [count, n, h, w, wide]);
    return writer.add(writer.collapse(channelsFirst(writer, apart), [[0], [1, 2], [3], [4]]), accumulator);
  },
};
