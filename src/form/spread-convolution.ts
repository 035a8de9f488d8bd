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
  if (formOf(spread) === FILTERS_TO_PIXELS) return convolution.dilations.every((step) => step === 1);
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
  /** For each element of the filter: its place in the window, and the pixel of the `stride` pixels of a place that it belongs to. */
  readonly elements: readonly { readonly place: number; readonly pixel: number }[];
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
    elements: meeting.map(({ place, pixel }) => ({ place: place - from, pixel })),
  };
}

/** The form of a transposed convolution: one convolution of the image without zeros computes s x s pixels at each place. */
const FILTERS_TO_PIXELS = 'filters-to-pixels';

/** The form of a convolution of an image with zeros around it: a matmul for each element of the filter, where it meets the image. */
const BY_ELEMENTS = 'element-by-element';

const formOf = ({ strides }: Pick<SpreadConvolution, 'strides'>): string =>
  strides.some((stride) => stride > 1) ? FILTERS_TO_PIXELS : BY_ELEMENTS;

/** Writes the work of such a convolution in its form. Returns its result. */
function withoutZeros(
  writer: Writer,
  spread: SpreadConvolution,
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
  const write = formOf(spread) === BY_ELEMENTS ? byElements : filtersToPixels;
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
  { convolution, offsets, strides }: SpreadConvolution,
  [image, elements]: readonly [Value, Value],
): Value {
  const { batch, filters, channels, filter: window, result } = extentsOf(convolution);
  const along = result.map((size, i) => alongOf(offsets[i]!, strides[i]!, window[i]!, size)) as [
    Along,
    Along,
  ];
  const [rows, columns] = along;

  const read = windowed(writer, image, along);
  const shape = [rows.size, columns.size, channels, rows.stride, columns.stride, filters];
  let spread = writer.zeros({ ...elements, shape });
  for (const [h, row] of rows.elements.entries())
    for (const [w, column] of columns.elements.entries()) {
      const places = [row.place, column.place, null, row.pixel, column.pixel, null];
      spread = writer.insertAt(elementOf(writer, elements, h, w), spread, places);
    }
  const all = writer.settle(writer.collapse(spread, [[0], [1], [2], [3, 4, 5]]));
  const sumsShape = [batch, rows.count, columns.count, rows.stride * columns.stride * filters];
  const sums =
    rows.size * columns.size === 1
      ? pixelsTimes(writer, read, writer.collapse(all, [[0, 1, 2], [3]]), sumsShape)
      : convolve(writer, read, all, writer.zeros({ ...image, shape: sumsShape }), STEPS);
  const split = writer.expand(
    sums,
    [[0], [1], [2], [3, 4, 5]],
    [batch, rows.count, columns.count, rows.stride, columns.stride, filters],
  );
  const joined = writer.collapse(writer.transpose(split, [0, 1, 3, 2, 4, 5]), [[0], [1, 2], [3, 4], [5]]);
  return writer.slice(joined, [
    [0, batch, 1],
    [0, result[0]!, 1],
    [0, result[1]!, 1],
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
  formsOf: (spread) => [{ name: formOf(spread) }],
  write(writer, spread, operands) {
    const { image, convolution } = spread;
    return {
      value: withoutZeros(writer, spread, operands as [Value, Value, Value]),
      images: [image, convolution.result],
      padding: formOf(spread) === BY_ELEMENTS ? convolution.image : null,
    };
  },
  loopsOf: ({ convolution }) => loopsOf(convolution),
  tuningGain: ({ convolution }) => tuningGain(convolution),
};
