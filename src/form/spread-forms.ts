// The forms of convolutions among zeros: see `spread-convolution.ts`. They read the image without zeros.
import { convolve } from './channels-last.ts';
import { channelsFirst, fromChannelsFirst, toChannelsFirst } from './channels-first.ts';
import { extentsOf, loopsOf, tuningGain } from './convolution.ts';
import type { ReplaceableKind } from './form.ts';
import { CHANNELS_FIRST, CHANNELS_LAST, pixelsTimes } from './parts.ts';
import {
  alongsOf,
  BY_ELEMENTS,
  BY_PIXELS,
  FILTERS_TO_PIXELS,
  formsOf,
  isSpread,
  meetingsOf,
  readSpread,
  spreadKey,
  writtenSpread,
  type Along,
  type Meeting,
  type Met,
  type SpreadConvolution,
} from './spread-convolution.ts';
import type { Value, Writer } from './text.ts';

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
type Write = (writer: Writer, spread: SpreadConvolution, operands: readonly [Value, Value]) => Value;

const byElements: Write = (writer, spread, [image, filter]) => {
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
};

const filtersToPixels: Write = (writer, spread, [image, elements]) => {
  const { batch, filters, channels } = extentsOf(spread.convolution);
  const along = alongsOf(spread) as [Along, Along];
  const [rows, columns] = along;
  const read = windowed(writer, image, along);
  const shape = [rows.size, columns.size, channels, rows.stride, columns.stride, filters];
  const all = windowFilter(writer, elements, shape, along, (row, column) => [
    ...[row.place, column.place, null],
    ...[row.pixel, column.pixel, null],
  ]);
  const settled = writer.settle(writer.collapse(all, [[0], [1], [2], [3, 4, 5]]));
  const sums = sumsOf(writer, read, settled, [batch, rows.count, columns.count]);
  const split = writer.expand(
    sums,
    [[0], [1], [2], [3, 4, 5]],
    [batch, rows.count, columns.count, rows.stride, columns.stride, filters],
  );
  return joined(writer, writer.transpose(split, [0, 1, 3, 2, 4, 5]), spread);
};

const byPixels: Write = (writer, spread, [image, elements]) => {
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
    const shape = [rows.size, columns.size, channels, filters];
    const filter = windowFilter(writer, elements, shape, own, (row, column) => [
      ...[row.place, column.place],
      ...[null, null],
    ]);
    const read = writer.settle(windowed(writer, image, own));
    const sums = sumsOf(writer, read, writer.settle(filter), [batch, ...counts]);
    all = writer.insertAt(sums, all, [null, null, at[0]!, null, at[1]!, null]);
  }
  return joined(writer, writer.settle(all), spread);
};

/** A filter of this shape with the elements of a filter (kh, kw, c, f) at their places, and zeros elsewhere. */
function windowFilter(
  writer: Writer,
  elements: Value,
  shape: readonly number[],
  [rows, columns]: readonly [Along, Along],
  placesOf: (row: Met, column: Met) => readonly (number | null)[],
): Value {
  let filter = writer.zeros({ ...elements, shape });
  for (const row of rows.elements)
    for (const column of columns.elements) {
      const element = elementOf(writer, elements, row.element, column.element);
      filter = writer.insertAt(element, filter, placesOf(row, column));
    }
  return filter;
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
