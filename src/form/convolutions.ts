// The forms of convolutions and poolings, in orders of preference.
import { channelsFirst, fromChannelsFirst, toChannelsFirst } from './channels-first.ts';
import { blocksOfFilters, channelsLast, groupByGroup } from './channels-last.ts';
import {
  convolutionKey,
  hasZeroPoint,
  isConvolution,
  loopsOf,
  readConvolution,
  tuningGain,
  withoutZeroPoint,
  writtenConvolution,
  type Convolution,
} from './convolution.ts';
import type { ConvolutionForm, Neighbours, Operands, ReplaceableKind } from './form.ts';
import { matmul } from './matmul.ts';
import { sumsAlong } from './packed-product.ts';
import { pixelsByFilters } from './pixels-by-filters.ts';
import { pixelsFirst } from './pixels-first.ts';
import { reduction } from './reduction.ts';
import { rowsByFilters } from './rows-by-filters.ts';
import { settledSlices, shiftedSlices, shiftedSlicesChannelsLast } from './shifted-slices.ts';
import { readSpread } from './spread-convolution.ts';
import type { Value, Writer } from './text.ts';
import { windowsByFilters } from './windows-by-filters.ts';
import { tensorText } from '../workload/tensor.ts';

/** For a convolution alone: transposes of its image and its result cost more than they gain. */
const ALONE: readonly ConvolutionForm[] = [
  windowsByFilters,
  pixelsFirst,
  matmul,
  shiftedSlices,
  shiftedSlicesChannelsLast,
  blocksOfFilters,
  channelsLast,
  groupByGroup,
];

/** For several convolutions: all keep the channels innermost, so that transposes between them cancel. */
const IN_CHAINS: readonly ConvolutionForm[] = [
  windowsByFilters,
  pixelsByFilters,
  rowsByFilters,
  reduction,
  shiftedSlicesChannelsLast,
  blocksOfFilters,
  channelsLast,
  pixelsFirst,
  matmul,
  shiftedSlices,
  groupByGroup,
];

/** In a chain, before the padding of another convolution's image. */
const BEFORE_PADDING: readonly ConvolutionForm[] = [windowsByFilters, rowsByFilters, ...IN_CHAINS];

/** In a quantized program. */
const QUANTIZED: readonly ConvolutionForm[] = [settledSlices, ...IN_CHAINS];

function formsAmong({ place, isForCpu, isPadded }: Neighbours, convolution: Convolution) {
  if (place === 'alone') return ALONE;
  if (place === 'quantized') return QUANTIZED;
  // Only measured on CPUs.
  return isForCpu && isPadded(convolution) ? BEFORE_PADDING : IN_CHAINS;
}

const asInForms = (convolution: Convolution): Convolution =>
  channelsFirst(hasZeroPoint(convolution) ? withoutZeroPoint(convolution) : convolution);

/** The accumulator (n, f, h, w), less what the zero point of the image adds: its product with the sum of each filter. */
function lessZeroPoint(writer: Writer, operands: readonly Value[]): Value {
  const [, filter, accumulator, zero] = operands as [Value, Value, Value, Value];
  const { elementType } = accumulator;
  const sums = sumsAlong(writer, writer.collapse(filter, [[0], [1, 2, 3]]), -1, 'arith.extsi');
  const point = writer.define(zero, `tensor.from_elements ${zero.name} : ${tensorText(zero)}`);
  return writer.generic({
    loops: 'n, f, h, w',
    maps: ['n, f, h, w', 'f', '', 'n, f, h, w'],
    inputs: [accumulator, sums, point],
    into: writer.empty(accumulator),
    body: [`%p = arith.muli %x1, %x2 : ${elementType}`, `%d = arith.subi %x0, %p : ${elementType}`],
    gives: '%d',
  });
}

export const convolutions: ReplaceableKind<Convolution> = {
  is: isConvolution,
  key: convolutionKey,
  read: (text, operations) =>
    operations.flatMap((one) => (readSpread(one, text) === null ? (readConvolution(one, text) ?? []) : [])),
  writtenOf: (convolution) => writtenConvolution(convolution),
  resultOf: ({ result }) => result,
  formsOf(convolution, neighbours) {
    const own = asInForms(convolution);
    return formsAmong(neighbours, convolution).flatMap((form) =>
      form.isFor(own) ? { name: form.name, tiles: form.tilesOf?.(own) } : [],
    );
  },
  write(writer, convolution, operands, { name, packing }) {
    const form = QUANTIZED.find((one) => one.name === name);
    const own = asInForms(convolution);
    if (form?.isFor(own) !== true) throw new RangeError(`${convolutionKey(convolution)} has no form ${name}`);
    const begun = hasZeroPoint(convolution)
      ? [...operands.slice(0, 2), lessZeroPoint(writer, operands)]
      : operands;
    const moved = (['image', 'filter', 'result'] as const).map((part, i) =>
      toChannelsFirst(writer, convolution, begun[i]!, part),
    );
    const result = form.write(writer, own, moved as unknown as Operands, packing);
    return { value: fromChannelsFirst(writer, convolution, result), images: [own.image, own.result] };
  },
  loopsOf,
  tuningGain,
};
