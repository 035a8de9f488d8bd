// The forms of convolutions and poolings, in orders of preference.
import { channelsFirst, fromChannelsFirst, toChannelsFirst } from './channels-first.ts';
import { blocksOfFilters, channelsLast, groupByGroup } from './channels-last.ts';
import {
  convolutionKey,
  isConvolution,
  loopsOf,
  readConvolution,
  tuningGain,
  writtenConvolution,
  type Convolution,
} from './convolution.ts';
import type { ConvolutionForm, Neighbours, Operands, ReplaceableKind } from './form.ts';
import { matmul } from './matmul.ts';
import { pixelsByFilters } from './pixels-by-filters.ts';
import { pixelsFirst } from './pixels-first.ts';
import { reduction } from './reduction.ts';
import { rowsByFilters } from './rows-by-filters.ts';
import { settledSlices, shiftedSlices, shiftedSlicesChannelsLast } from './shifted-slices.ts';
import { readSpread } from './spread-convolution.ts';
import { windowsByFilters } from './windows-by-filters.ts';

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

export const convolutions: ReplaceableKind<Convolution> = {
  is: isConvolution,
  key: convolutionKey,
  read: (text, operations) =>
    operations.flatMap((one) => (readSpread(one, text) === null ? (readConvolution(one, text) ?? []) : [])),
  writtenOf: (convolution) => writtenConvolution(convolution),
  resultOf: ({ result }) => result,
  formsOf(convolution, neighbours) {
    const own = channelsFirst(convolution);
    return formsAmong(neighbours, convolution).flatMap((form) =>
      form.isFor(own) ? { name: form.name, tiles: form.tilesOf?.(own) } : [],
    );
  },
  write(writer, convolution, operands, { name, packing }) {
    const form = QUANTIZED.find((one) => one.name === name);
    const own = channelsFirst(convolution);
    if (form?.isFor(own) !== true) throw new RangeError(`${convolutionKey(convolution)} has no form ${name}`);
    const moved = (['image', 'filter', 'result'] as const).map((part, i) =>
      toChannelsFirst(writer, convolution, operands[i]!, part),
    );
    const result = form.write(writer, own, moved as unknown as Operands, packing);
    return { value: fromChannelsFirst(writer, convolution, result), images: [own.image, own.result] };
  },
  loopsOf,
  tuningGain,
};
