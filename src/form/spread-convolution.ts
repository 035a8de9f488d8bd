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
import { convolve } from './channels-last.ts';
import { channelsFirst, fromChannelsFirst, toChannelsFirst } from './channels-first.ts';
import {
  convolutionKey,
  extentsOf,
  hasOneType,
  isConvolution,
  isSpatial,
  layoutOf,
  loopsOf,
  readConvolution,
  spatialIn,
  tuningGain,
  writtenConvolution,
  type Convolution,
} from './convolution.ts';
import type { ReplaceableKind } from './form.ts';
import { CHANNELS_FIRST, CHANNELS_LAST, pixelsTimes } from './parts.ts';
import { definitionIn, listOf, type Value, type Writer, type Written } from './text.ts';

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
const spreadKey = ({ convolution, image, offsets, strides }: SpreadConvolution): string =>
  `${convolutionKey(convolution)} from=${typeName(image)} at=${offsets.join()} every=${strides.join()}`;

/** An operation as such a convolution; null for others. */
export function readSpread(operation: Operation, text: Uint8Array): SpreadConvolution | null {
  const convolution = readConvolution(operation, text);
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
interface Meeting {
  /** Place of the filter's element. */
  readonly element: number;
  /** First place of the result, its number of places, and the first place of the image. */
  readonly from: number;
  readonly size: number;
  readonly image: number;
}

/** By spatial dimension; without the elements of the filter that meet zeros alone. */
function meetingsOf({ convolution, image, offsets }: SpreadConvolution): readonly (readonly Meeting[])[] {
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
function writtenSpread({ convolution, image, offsets, strides }: SpreadConvolution): Written {
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
interface Along {
  readonly stride: number;
  /** The window over the image: its first place for the first result, and its size. */
  readonly from: number;
  readonly size: number;
  /** Number of places of the window. */
  readonly count: number;
  /** Elements of the filter: their places there and in the window, and the pixel of the `stride` pixels of a place that each belongs to. */
  readonly elements: readonly {
    readonly element: number;
    readonly place: number;
    readonly pixel: number;
  }[];
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
const FILTERS_TO_PIXELS = 'filters-to-pixels';

/** The form of one whose pixels meet few elements of the filter: a convolution for each of the s x s pixels, with those elements alone. */
const BY_PIXELS = 'pixel-by-pixel';

/** The form of a convolution of an image with zeros around it: a matmul for each element of the filter, where it meets the image. */
const BY_ELEMENTS = 'element-by-element';

/** Filters whose sums fill vectors for one pixel. */
const LEAST_FILTERS = 16;
/** Products of one convolution for all pixels, for each product that meets the image. */
const MOST_WASTE = 1.25;

function formsOf(spread: SpreadConvolution): readonly string[] {
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
function alongsOf(spread: SpreadConvolution): readonly Along[] {
  const { convolution, offsets, strides } = spread;
  const { filter, result } = extentsOf(convolution);
  return result.map((size, i) =>
    alongOf(offsets[i]!, isOneElement(spread) ? size : strides[i]!, filter[i]!, size),
  );
}

const WRITERS = new Map([
  [BY_ELEMENTS, byElements],
  [BY_PIXELS, byPixels],
  [FILTERS_TO_PIXELS, filtersToPixels],
]);

/** Writes the work of such a convolution in a form. Returns its result. */
function withoutZeros(
  writer: Writer,
  spread: SpreadConvolution,
  form: string,
  operands: readonly [Value, Value, Value],
): Value {
  const { convolution, offsets, strides } = spread;
  const [image, filter, into] = (['image', 'filter', 'result'] as const).map((part, i) =>
    toChannelsFirst(writer, convolution, operands[i]!, part),
  ) as [Value, Value, Value];
  const moved = writer.move(image, CHANNELS_LAST);
  const elements = writer.transpose(filter, [2, 3, 1, 0]);
  const own = channelsFirst(convolution);
  const missing = own.strides.length - strides.length;
  const inTwo = (list: readonly number[], other: number) => [...Array<number>(missing).fill(other), ...list];
  const flat = { convolution: own, image, offsets: inTwo(offsets, 0), strides: inTwo(strides, 1) };
  const write = formsOf(spread).includes(form) ? WRITERS.get(form) : undefined;
  if (write === undefined) throw new RangeError(`${spreadKey(spread)} has no form ${form}`);
  const sum = writer.add(write(writer, flat, [moved, elements]), writer.transpose(into, CHANNELS_LAST));
  return fromChannelsFirst(writer, convolution, writer.transpose(sum, CHANNELS_FIRST));
}

/** One element (c, f) of a filter (kh, kw, c, f). */
function elementOf(writer: Writer, filter: Value, row: number, column: number): Value {
  const [, , channels, filters] = filter.shape as [number, number, number, number];
  return writer.slice(filter, [
    [row, null, 1],
    [column, null, 1],
    [0, channels, 1],
    [0, filters, 1],
  ]);
}

/** @param spread in two dimensions, with the channels first. @param operands image (n, h, w, c) and filter (kh, kw, c, f) */
function byElements(
  writer: Writer,
  spread: SpreadConvolution,
  [image, filter]: readonly [Value, Value],
): Value {
  const { batch, channels, filters, result } = extentsOf(spread.convolution);
  const [rows, columns] = meetingsOf(spread) as [readonly Meeting[], readonly Meeting[]];
  const products = rows.flatMap((row) =>
    columns.map((column) => {
      const read = writer.slice(image, [
        [0, batch, 1],
        [row.image, row.size, 1],
        [column.image, column.size, 1],
        [0, channels, 1],
      ]);
      const element = elementOf(writer, filter, row.element, column.element);
      const shape = [batch, row.size, column.size, filters];
      const product = pixelsTimes(writer, read, writer.settle(element), shape);
      const places = [result[0]! - row.from - row.size, result[1]! - column.from - column.size];
      return writer.pad(product, [0, row.from, column.from, 0], [0, ...places, 0]);
    }),
  );
  return products.reduce((sum, product) => writer.add(sum, product));
}

/** The same for a transposed convolution. */
function filtersToPixels(
  writer: Writer,
  spread: SpreadConvolution,
  [image, elements]: readonly [Value, Value],
): Value {
  const { batch, filters, channels } = extentsOf(spread.convolution);
  const along = alongsOf(spread) as [Along, Along];
  const [rows, columns] = along;
  const read = windowed(writer, image, along);
  const shape = [rows.size, columns.size, channels, rows.stride, columns.stride, filters];
  let all = writer.zeros({ ...elements, shape });
  for (const row of rows.elements)
    for (const column of columns.elements) {
      const places = [row.place, column.place, null, row.pixel, column.pixel, null];
      const element = elementOf(writer, elements, row.element, column.element);
      all = writer.insertAt(element, all, places);
    }
  const settled = writer.settle(writer.collapse(all, [[0], [1], [2], [3, 4, 5]]));
  const sums = sumsOf(writer, read, settled, [batch, rows.count, columns.count]);
  const split = writer.expand(
    sums,
    [[0], [1], [2], [3, 4, 5]],
    [batch, rows.count, columns.count, rows.stride, columns.stride, filters],
  );
  return joined(writer, writer.transpose(split, [0, 1, 3, 2, 4, 5]), spread);
}

/** The same, with a convolution for each pixel. */
function byPixels(
  writer: Writer,
  spread: SpreadConvolution,
  [image, elements]: readonly [Value, Value],
): Value {
  const { batch, filters, channels } = extentsOf(spread.convolution);
  const along = alongsOf(spread) as [Along, Along];
  const counts = along.map(({ count }) => count);
  const [down, right] = along.map(({ stride }) => stride) as [number, number];
  const [height, width] = counts as [number, number];
  const isWhole = along.every(({ stride }, i) => stride <= extentsOf(spread.convolution).filter[i]!);
  const type = { ...image, shape: [batch, height, down, width, right, filters] };
  let all = isWhole ? writer.empty(type) : writer.zeros(type);
  for (let pixel = 0; pixel < down * right; pixel++) {
    const at = [Math.floor(pixel / right), pixel % right];
    const own = along.map((one, i) => ofPixel(one, at[i]!)) as [Along, Along];
    const [rows, columns] = own;
    if (rows.size * columns.size === 0) continue;
    let filter = writer.zeros({ ...elements, shape: [rows.size, columns.size, channels, filters] });
    for (const row of rows.elements)
      for (const column of columns.elements) {
        const element = elementOf(writer, elements, row.element, column.element);
        filter = writer.insertAt(element, filter, [row.place, column.place, null, null]);
      }
    const read = writer.settle(windowed(writer, image, own));
    const sums = sumsOf(writer, read, writer.settle(filter), [batch, ...counts]);
    all = writer.insertAt(sums, all, [null, null, at[0]!, null, at[1]!, null]);
  }
  return joined(writer, writer.settle(all), spread);
}

/** The windows and elements of the filter that one of the pixels meets. */
function ofPixel({ elements, from, ...along }: Along, pixel: number): Along {
  const own = elements.filter((one) => one.pixel === pixel);
  const places = own.map(({ place }) => place);
  const first = Math.min(...places);
  return {
    ...{ ...along, from: from + first, size: own.length === 0 ? 0 : Math.max(...places) - first + 1 },
    elements: own.map((one) => ({ ...one, place: one.place - first })),
  };
}

/** The sums (n, h, w, f) of the windows of an image (n, h, w, c) with a filter (kh, kw, c, f). */
function sumsOf(writer: Writer, image: Value, filter: Value, places: readonly number[]): Value {
  const [rows, columns, , filters] = filter.shape as [number, number, number, number];
  const shape = [...places, filters];
  // The compiler drops a dimension of one element, and makes scalar code of what is left.
  return rows === 1 || columns === 1
    ? pixelsTimes(
        writer,
        windowsOf(writer, image, [rows, columns], places),
        writer.collapse(filter, [[0, 1, 2], [3]]),
        shape,
      )
    : convolve(writer, image, filter, writer.zeros({ ...image, shape }), STEPS);
}

/** The windows (n, h, w, kh * kw * c) of an image (n, h, w, c). */
function windowsOf(
  writer: Writer,
  image: Value,
  [rows, columns]: readonly [number, number],
  places: readonly number[],
): Value {
  const [batch, height, width] = places as [number, number, number];
  const channels = image.shape[3]!;
  if (rows * columns === 1) return image;
  const slices = Array.from({ length: rows * columns }, (_, i) =>
    writer.slice(image, [
      [0, batch, 1],
      [Math.floor(i / columns), height, 1],
      [i % columns, width, 1],
      [0, channels, 1],
    ]),
  );
  return writer.settle(writer.collapse(writer.stack(slices, 3), [[0], [1], [2], [3, 4]]));
}

/** The result, of pixels (n, h, down, w, right, f). */
function joined(writer: Writer, pixels: Value, { convolution }: SpreadConvolution): Value {
  const { batch, filters, result } = extentsOf(convolution);
  return writer.slice(writer.collapse(pixels, [[0], [1, 2], [3, 4], [5]]), [
    [0, batch, 1],
    ...result.map((size) => [0, size, 1] as const),
    [0, filters, 1],
  ]);
}

const STEPS = [
  [1, 1],
  [1, 1],
] as const;

/** The part of an image (n, h, w, c) that the windows read, with zeros around it. */
function windowed(writer: Writer, image: Value, along: readonly [Along, Along]): Value {
  const [n, , , c] = image.shape as [number, number, number, number];
  const ends = along.map(({ from, size, count }, i) => {
    const [first, last] = [from, from + count + size - 1];
    const length = image.shape[1 + i]!;
    return {
      ...{ begin: Math.max(0, first), end: Math.min(length, last) },
      ...{ low: Math.max(0, -first), high: Math.max(0, last - length) },
    };
  }) as [Ends, Ends];
  const [rows, columns] = ends;
  const cut = writer.slice(image, [
    [0, n, 1],
    [rows.begin, rows.end - rows.begin, 1],
    [columns.begin, columns.end - columns.begin, 1],
    [0, c, 1],
  ]);
  return writer.pad(cut, [0, rows.low, columns.low, 0], [0, rows.high, columns.high, 0]);
}

interface Ends {
  readonly begin: number;
  readonly end: number;
  readonly low: number;
  readonly high: number;
}

export const spreadConvolutions: ReplaceableKind<SpreadConvolution> = {
  is: isSpread,
  key: spreadKey,
  read: (text, operations) => operations.flatMap((one) => readSpread(one, text) ?? []),
  writtenOf: writtenSpread,
  resultOf: ({ convolution }) => convolution.result,
  formsOf: (spread) => formsOf(spread).map((name) => ({ name })),
  write(writer, spread, operands, { name }) {
    const { image, convolution } = spread;
    return {
      value: withoutZeros(writer, spread, name, operands as [Value, Value, Value]),
      images: [image, convolution.result],
      padding: name === BY_ELEMENTS ? convolution.image : null,
    };
  },
  loopsOf: ({ convolution }) => loopsOf(convolution),
  tuningGain: ({ convolution }) => tuningGain(convolution),
};
