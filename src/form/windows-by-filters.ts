// Convolutions as a product: each window of the image, copied to a row, times the filters. The copy is small beside the product, which has tiles: see
// `packing.ts`. The compiler has no such code for convolutions.
import { extentsOf, type Convolution } from './convolution.ts';
import { isFloat } from '../workload/element-type.ts';
import type { ConvolutionForm } from './form.ts';
import { everyOther } from './matmul.ts';
import { WIDEST_STRIP, type Packed, type Packing } from './packing.ts';
import { packedProduct } from './tiles.ts';
import { productOfIntegers } from './packed-product.ts';
import { CHANNELS_FIRST, CHANNELS_LAST, rowsTimes, widened } from './parts.ts';
import type { Value, Writer } from './text.ts';
import { elementsOf, type Tensor } from '../workload/tensor.ts';

/** The tiles of a convolution of floats, whose products are summed in 32 bits; null for other types. */
function tilesOfFloats(convolution: Convolution): Packed | null {
  const { image, result } = convolution;
  if (result.elementType !== 'f32') return null;
  if (image.elementType === 'bf16') return 'bf16';
  if (image.elementType === 'f16') return hasFewPixels(convolution) ? 'f16' : null;
  if (image.elementType !== 'f32') return null;
  return hasFewPixels(convolution) ? 'stored' : 'f32';
}

/** Fewer filters do not pay for the copy of windows of 32 bits. */
const LEAST_FILTERS = 128;

/** Filters of an image with one channel. The compiler drops that dimension, and makes scalar code of what is left. */
const LEAST_FILTERS_OF_ONE_CHANNEL = 8;

/** Elements of windows of 16 bits, beyond which their copy and its packing are read from memory. With fewer filters, the product takes less time. */
const MOST_IN_CACHE = 2 ** 21;
const LEAST_FILTERS_FROM_MEMORY = 256;

function isWorthCopying(convolution: Convolution): boolean {
  const { batch, channels, filter, filters, result } = extentsOf(convolution);
  const isNarrow = convolution.image.elementType !== 'f32';
  if (filter.every((size) => size === 1)) return isNarrow;
  const windows = elementsOf([batch, ...result, ...filter, channels]);
  if (isNarrow) return windows <= MOST_IN_CACHE || filters >= LEAST_FILTERS_FROM_MEMORY;
  if (channels === 1) return filters >= LEAST_FILTERS_OF_ONE_CHANNEL;
  return filters >= LEAST_FILTERS && hasSlices(convolution);
}

/** Pixels for which no tile of other forms fits by default: they are few, or an odd number in each row. */
const [FEW_PIXELS, FEW_ODD_PIXELS] = [36, 200];

function hasFewPixels(convolution: Convolution): boolean {
  const { batch, filters, result } = extentsOf(convolution);
  const most = result.at(-1)! % 2 === 1 ? FEW_ODD_PIXELS : FEW_PIXELS;
  const hasWideStrips = filters >= LEAST_FILTERS && filters % WIDEST_STRIP === 0;
  return elementsOf([batch, ...result]) <= most && hasWideStrips && hasSlices(convolution);
}

/** More slices take longer to read than a copy of single elements. */
const MOST_SLICES = 9;

/** Channels of a vector of the narrowest registers. */
const VECTOR = 16;

/** Whether windows are copied in slices of the image, one for each element of the filter. */
function hasSlices(convolution: Convolution): boolean {
  const { channels, filter } = extentsOf(convolution);
  return filter.reduce((product, size) => product * size, 1) <= MOST_SLICES && channels % VECTOR === 0;
}

export const windowsByFilters: ConvolutionForm = {
  name: 'windows-by-filters',
  isFor: (convolution) => {
    const { name, widening } = convolution;
    const { elementType } = convolution.image;
    if (widening === 'arith.extui') return elementType === 'i8';
    if (widening !== undefined) return true;
    if (name !== 'linalg.conv_2d_nchw_fchw') return false;
    return !isFloat(elementType) || (tilesOfFloats(convolution) !== null && isWorthCopying(convolution));
  },
  tilesOf: (convolution) => {
    const { elementType } = convolution.image;
    if (elementType === 'f32' && extentsOf(convolution).channels === 1) return undefined;
    if (elementType === 'i8') return { of: 'i8', areNeeded: false };
    const of = tilesOfFloats(convolution);
    return of === null ? undefined : { of, areNeeded: true };
  },
  write(writer, convolution, [image, filter, accumulator], packing) {
    const { batch, filters, result } = extentsOf(convolution);
    // Settled: steps that quantize are scalar code if the packing of the rows is fused into them.
    const rows = writer.settle(windowsOf(writer, writer.move(image, CHANNELS_LAST), convolution));
    const weights = writer.settle(writer.collapse(writer.transpose(filter, [2, 3, 1, 0]), [[0, 1, 2], [3]]));
    const widenings = [convolution.widening ?? 'arith.extsi', 'arith.extsi'] as const;
    const shape = [batch, ...result, filters];
    const { elementType } = accumulator;
    const own = isFloat(elementType)
      ? productOfFloats(writer, [rows, weights], { elementType, shape }, packing)
      : productOfIntegers(writer, [rows, weights], { widenings, packing, shape });
    const sum = writer.add(own, writer.transpose(accumulator, CHANNELS_LAST));
    return writer.transpose(sum, CHANNELS_FIRST);
  },
};

function productOfFloats(
  writer: Writer,
  [rows, weights]: readonly [Value, Value],
  result: Tensor,
  packing: Packing | null,
): Value {
  const wide = packing?.hasStrips ? widened(writer, rows, result.elementType) : rows;
  if (packing !== null) return packedProduct(writer, [wide, weights], false, result, packing);
  return writer.expand(rowsTimes(writer, rows, weights), [[0, 1, 2], [3]], result.shape);
}

/**
 * An image (n, h, w, c) as (n, y, x, h / strides, w / strides, c): places with the same remainder by the strides lie together, so that a window reads them
 * without gaps. One copy serves all elements of the filter.
 */
function withoutGaps(writer: Writer, image: Value, strides: readonly number[]): Value {
  const [batch, height, width, channels] = image.shape as [number, number, number, number];
  const [down, right] = strides as [number, number];
  const [rows, columns] = [Math.ceil(height / down), Math.ceil(width / right)];
  const whole = writer.pad(image, [0, 0, 0, 0], [0, rows * down - height, columns * right - width, 0]);
  const split = writer.expand(
    whole,
    [[0], [1, 2], [3, 4], [5]],
    [batch, rows, down, columns, right, channels],
  );
  return writer.settle(writer.transpose(split, [0, 2, 4, 1, 3, 5]));
}

/** The window of each pixel (n, h, w, c) as (n, h, w, y * x, c). A copy from places such as `h + y` would be scalar code; copies and choices of slices have vectors. */
function slicesOf(writer: Writer, image: Value, { strides, dilations, ...convolution }: Convolution): Value {
  const { batch, channels, filter, result } = extentsOf({ ...convolution, strides, dilations });
  const [rows, columns] = filter as [number, number];
  const isDense = strides.every((stride) => stride === 1);
  const from = isDense ? image : withoutGaps(writer, image, strides);
  const slices = Array.from({ length: rows * columns }, (_, i) => {
    const places = [Math.floor(i / columns), i % columns].map((place, d) => place * dilations[d]!);
    return writer.slice(from, [
      [0, batch, 1],
      ...(isDense ? [] : places.map((place, d) => [place % strides[d]!, null, 1] as const)),
      ...places.map((place, d) => [Math.floor(place / strides[d]!), result[d]!, 1] as const),
      [0, channels, 1],
    ]);
  });
  // A choice reads all slices for each of them.
  if (image.elementType === 'f32') return writer.stack(slices, 3);
  const into = writer.empty({ ...image, shape: [batch, ...result, slices.length, channels] });
  const chosen = slices.slice(1).map((_, i) => {
    const [at, before] = [i + 1, i === 0 ? '%x0' : `%r${i}`];
    return [
      `%c${at} = arith.constant ${at} : index`,
      `%q${at} = arith.cmpi eq, %t, %c${at} : index`,
      `%r${at} = arith.select %q${at}, %x${at}, ${before} : ${image.elementType}`,
    ];
  });
  return writer.generic({
    loops: 'n, h, w, t, c',
    maps: [...slices.map(() => 'n, h, w, c'), 'n, h, w, t, c'],
    inputs: slices,
    into,
    body: ['%t = linalg.index 3 : index', ...chosen.flat()],
    gives: `%r${slices.length - 1}`,
  });
}

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
  if (hasSlices(convolution))
    return writer.collapse(slicesOf(writer, image, convolution), [
      [0, 1, 2],
      [3, 4],
    ]);
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
