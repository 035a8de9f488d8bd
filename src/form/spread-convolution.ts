// Convolutions of an image that is spread among zeros, whose products are mostly zero. Front ends write a transposed convolution so, with zeros between
// the elements of its image; and a large dilation reads more padding than image.
import { VALUE } from '../compiler/symbol.ts';
import type { Operation } from 'mlir-parser-ts';
import { isFloat } from '../workload/element-type.ts';
import { isIntegerWithin } from '../system/data.ts';
import {
  elementsOf,
  isTensor,
  tensorFromText,
  tensorText,
  typeName,
  type Tensor,
} from '../workload/tensor.ts';
import {
  convolutionKey,
  extentsOf,
  hasOneType,
  isConvolution,
  isSpatial,
  layoutOf,
  readAnyConvolution,
  spatialIn,
  writtenConvolution,
  type Convolution,
} from './convolution.ts';
import { definitionIn } from './definitions.ts';
import { listOf, type Value, type Written } from './text.ts';

export interface SpreadConvolution {
  /** The convolution that the program has, of the image with zeros. */
  readonly convolution: Convolution;
  /** The image without zeros, in the layout of the convolution. */
  readonly image: Tensor;
  /** Place of the image's first element among the zeros, along each spatial dimension. */
  readonly offsets: readonly number[];
  /** Distance of its elements there. */
  readonly strides: readonly number[];
}

/** Elements of a filter. Each is one insertion into the filter of the form. */
const MOST_ELEMENTS = 64;

/** Largest share of the products that meet an image element, for images with zeros around them. */
const MOST_MEETING = 0.6;

/** Equal for equal operations. */
export const spreadKey = ({ convolution, image, offsets, strides }: SpreadConvolution): string =>
  `${convolutionKey(convolution)} from=${typeName(image)} at=${offsets.join()} every=${strides.join()}`;

/** An operation as such a convolution; null for others. */
export function readSpread(operation: Operation, text: Uint8Array): SpreadConvolution | null {
  const convolution = readAnyConvolution(operation, text);
  if (convolution === null) return null;
  const define = (value: string) => definitionIn(text, value, operation.start) ?? '';
  const defined = define(operation.operands[0]!.value);
  const found = INSERTED.exec(defined)?.groups ?? PADDED.exec(defined)?.groups;
  if (found === undefined) return null;
  const { into, offsets, sizes, strides, from } = found as Record<string, string>;
  const zero = found['zero'] ?? FILLED.exec(define(into!))?.[1];
  const image = tensorFromText(from!);
  if (zero === undefined || !ZERO.test(define(zero)) || image === null) return null;
  if (sizes !== undefined && sizes !== image.shape.join(', ')) return null;
  const layout = layoutOf(convolution)[0];
  const numbersIn = (list: string) => list.split(', ').map(Number);
  const at = numbersIn(offsets!);
  const every = strides === undefined ? at.map(() => 1) : numbersIn(strides);
  const isOuter = Array.from(layout).some((one, d) => !isSpatial(one) && (at[d] !== 0 || every[d] !== 1));
  const along = (list: readonly number[]) => list.filter((_, d) => isSpatial(layout[d]!));
  const spread = { convolution, image, offsets: along(at), strides: along(every) };
  return !isOuter && isSpread(spread) ? spread : null;
}

const INSERTED = new RegExp(
  String.raw`^tensor\.insert_slice ${VALUE} into (?<into>${VALUE})\[(?<offsets>[\d, ]+)\] \[(?<sizes>[\d, ]+)\] \[(?<strides>[\d, ]+)\] : (?<from>tensor<[^<>]*>) into `,
);
const PADDED = new RegExp(
  String.raw`^tensor\.pad ${VALUE} low\[(?<offsets>[\d, ]+)\] high\[[\d, ]+\] \{\s*\^bb0[^\n]*\s*tensor\.yield (?<zero>${VALUE}) : [^\n]*\s*\} : (?<from>tensor<[^<>]*>) to `,
);
const FILLED = new RegExp(String.raw`^linalg\.fill ins\((${VALUE}) : `);
const ZERO = /^arith\.constant 0\.0+(?:e\+00)? : /;

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
export function isSpread(value: unknown): value is SpreadConvolution {
  const { convolution, image, offsets, strides } = (value ?? {}) as Partial<
    Record<keyof SpreadConvolution, unknown>
  >;
  if (!isConvolution(convolution) || !isTensor(image) || !hasOneType(convolution)) return false;
  const isPlaces = (list: unknown, least: number): list is readonly number[] =>
    Array.isArray(list) && list.every((one) => isIntegerWithin(one, least, MOST_ZEROS));
  const { image: whole, filter, result } = extentsOf(convolution);
  const layout = layoutOf(convolution)[0];
  return (
    /^linalg\.conv_(?:1d_ncw_fcw|2d_nchw_fchw|2d_nhwc_hwcf)$/.test(convolution.name) &&
    isPlaces(offsets, 0) &&
    isPlaces(strides, 1) &&
    offsets.length === whole.length &&
    strides.length === whole.length &&
    convolution.strides.every((stride) => stride === 1) &&
    isFloat(image.elementType) &&
    image.elementType === convolution.image.elementType &&
    elementsOf(filter) <= MOST_ELEMENTS &&
    image.shape.length === layout.length &&
    image.shape.every((size, d) => {
      const i = spatialIn(layout).indexOf(layout[d]!);
      if (i < 0) return size === convolution.image.shape[d];
      const reach = (filter[i]! - 1) * convolution.dilations[i]! + 1;
      return whole[i] === result[i]! + reach - 1 && offsets[i]! + (size - 1) * strides[i]! < whole[i];
    }) &&
    isMostlyZero({ convolution, image, offsets, strides })
  );
}

/** Limit of offsets and strides. */
const MOST_ZEROS = 4096;

/** Whether zeros lie between the elements of the image, or most products meet the zeros around it. */
function isMostlyZero(spread: SpreadConvolution): boolean {
  const { convolution } = spread;
  if (hasPixels(spread)) return convolution.dilations.every((step) => step === 1);
  const { filter, result } = extentsOf(convolution);
  const meeting = meetingsOf(spread).map((along) => along.reduce((sum, { size }) => sum + size, 0));
  const most = filter.map((size, i) => size * result[i]!);
  return elementsOf(meeting) > 0 && elementsOf(meeting) <= MOST_MEETING * elementsOf(most);
}

/** The places of a result whose products with one element of the filter meet the image. */
export interface Meeting {
  /** Place of the filter's element. */
  readonly element: number;
  /** First place of the result, its number of places, and the first place of the image. */
  readonly from: number;
  readonly size: number;
  readonly image: number;
}

/** By spatial dimension; without the elements of the filter that meet zeros alone. */
export function meetingsOf({
  convolution,
  image,
  offsets,
}: SpreadConvolution): readonly (readonly Meeting[])[] {
  const { filter, result } = extentsOf(convolution);
  const sizes = image.shape.filter((_, d) => isSpatial(layoutOf(convolution)[0][d]!));
  return filter.map((elements, i) =>
    Array.from({ length: elements }, (_, element) => {
      const before = offsets[i]! - element * convolution.dilations[i]!;
      const from = Math.max(0, before);
      const end = Math.min(result[i]!, sizes[i]! + before);
      return { element, from, size: Math.max(0, end - from), image: from - before };
    }).filter(({ size }) => size > 0),
  );
}

/** Such a convolution as the program has it once its padding is an insertion into zeros. */
export function writtenSpread({ convolution, image, offsets, strides }: SpreadConvolution): Written {
  const whole = writtenConvolution(convolution, '%spread');
  const [, filter, accumulator] = whole.operands as [Value, Value, Value];
  const operands = [{ ...image, name: '%image' }, filter, accumulator];
  const type = tensorText(convolution.image);
  const { elementType } = image;
  const layout = layoutOf(convolution)[0];
  const list = (own: readonly number[], other: number) =>
    `[${Array.from(layout, (one) => own[spatialIn(layout).indexOf(one)] ?? other).join(', ')}]`;
  return {
    ...whole,
    operands,
    list: listOf(operands),
    before: `%zero = arith.constant 0.0 : ${elementType}
      %none = tensor.empty() : ${type}
      %zeros = linalg.fill ins(%zero : ${elementType}) outs(%none : ${type}) -> ${type}
      %spread = tensor.insert_slice %image into %zeros${list(offsets, 0)} [${image.shape.join(', ')}] ${list(strides, 1)} : ${tensorText(image)} into ${type}`,
  };
}

/** How a dimension of the result is computed from the image without zeros. */
export interface Along {
  readonly stride: number;
  /** The window over the image: its first place for the first result, and its size. */
  readonly from: number;
  readonly size: number;
  /** Number of places of the window. */
  readonly count: number;
  /** Elements of the filter: their places there and in the window, and the pixel of the `stride` pixels of a place that each belongs to. */
  readonly elements: readonly Met[];
}

export interface Met {
  readonly element: number;
  readonly place: number;
  readonly pixel: number;
}

/** The element `d` of the filter meets image element `i` for result `y` if `y + d = offset + stride * i`. */
function alongOf(offset: number, stride: number, elements: number, result: number): Along {
  const meeting = Array.from({ length: elements }, (_, d) => {
    const pixel = (((offset - d) % stride) + stride) % stride;
    return { pixel, place: (pixel + d - offset) / stride };
  });
  const places = meeting.map(({ place }) => place);
  const from = Math.min(...places);
  return {
    ...{ stride, from, size: Math.max(...places) - from + 1, count: Math.ceil(result / stride) },
    elements: meeting.map(({ place, pixel }, element) => ({ element, place: place - from, pixel })),
  };
}

/** The form of a transposed convolution: one convolution of the image without zeros computes s x s pixels at each place. */
export const FILTERS_TO_PIXELS = 'filters-to-pixels';

/** The form of one whose pixels meet few elements of the filter: a convolution for each of the s x s pixels, with those elements alone. */
export const BY_PIXELS = 'pixel-by-pixel';

/** The form of a convolution of an image with zeros around it: a matmul for each element of the filter, where it meets the image. */
export const BY_ELEMENTS = 'element-by-element';

/** Filters whose sums fill vectors for one pixel. */
const LEAST_FILTERS = 16;
/** Products of one convolution for all pixels, for each product that meets the image. */
const MOST_WASTE = 1.25;

export function formsOf(spread: SpreadConvolution): readonly string[] {
  if (!hasPixels(spread)) return [BY_ELEMENTS];
  const { filter, filters } = extentsOf(spread.convolution);
  const alone = elementsOf(alongsOf(spread).map(({ stride, size }) => stride * size));
  const isWasteful = filters >= LEAST_FILTERS && alone > MOST_WASTE * elementsOf(filter);
  return isWasteful ? [BY_PIXELS, FILTERS_TO_PIXELS] : [FILTERS_TO_PIXELS];
}

/** Whether an element of the image gives several pixels: there are zeros between the elements, or a dense filter meets one element. */
const hasPixels = (spread: SpreadConvolution): boolean =>
  spread.strides.some((stride) => stride > 1) || isOneElement(spread);

const isOneElement = ({ convolution, image }: SpreadConvolution): boolean =>
  convolution.dilations.every((step) => step === 1) &&
  image.shape.every((size, d) => size === 1 || !isSpatial(layoutOf(convolution)[0][d]!)) &&
  extentsOf(convolution).result.some((size) => size > 1);

/** By spatial dimension. The pixels of a single element are the whole result. */
export function alongsOf(spread: SpreadConvolution): readonly Along[] {
  const { convolution, offsets, strides } = spread;
  const { filter, result } = extentsOf(convolution);
  const isOne = isOneElement(spread);
  return result.map((size, i) => alongOf(offsets[i]!, isOne ? size : strides[i]!, filter[i]!, size));
}
