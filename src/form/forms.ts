// All forms, in orders of preference.
import { isAttention, stepByStep } from './attention.ts';
import { BROADCAST_FORM, isBroadcast } from './broadcast.ts';
import { CONCAT_FORM, isConcat } from './concat.ts';
import type { Named, PassesForm, WrittenForm } from './form.ts';
import { channelsFirst } from './channels-first.ts';
import { blocksOfFilters, channelsLast, groupByGroup } from './channels-last.ts';
import { INTEGER_PRODUCT_FORM, isIntegerProduct } from './integer-product.ts';
import { matmul } from './matmul.ts';
import { pixelsByFilters } from './pixels-by-filters.ts';
import { pixelsFirst } from './pixels-first.ts';
import { isPackedProduct, PACKED_FORM, packedType } from './packed-product.ts';
import { isProduct, productForm } from './product.ts';
import { IN_INTEGERS, isQuantized } from './quantized.ts';
import { reduction } from './reduction.ts';
import type { Rewritable } from './rewritable.ts';
import { isRounding, ROUNDING_FORM } from './rounding.ts';
import { rowsByFilters } from './rows-by-filters.ts';
import { isSpread, spreadForm } from './spread-convolution.ts';
import { settledSlices, shiftedSlices, shiftedSlicesChannelsLast } from './shifted-slices.ts';
import { windowsByFilters } from './windows-by-filters.ts';

/** For a convolution alone: transposes of its image and its result cost more than they gain. */
const ALONE: readonly WrittenForm[] = [
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
const IN_CHAINS: readonly WrittenForm[] = [
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
const BEFORE_PADDING: readonly WrittenForm[] = [windowsByFilters, rowsByFilters, ...IN_CHAINS];

/** In a quantized program. */
const QUANTIZED: readonly WrittenForm[] = [settledSlices, ...IN_CHAINS];

const OF_ATTENTIONS: readonly PassesForm[] = [stepByStep];

export const writtenFormNamed = (name: string): WrittenForm | null =>
  QUANTIZED.find((form) => form.name === name) ?? null;

export const passesFormNamed = (name: string): PassesForm | null =>
  OF_ATTENTIONS.find((form) => form.name === name) ?? null;

/** In a chain, the channels of joined images are innermost, too, and no operation between images may stop a transpose. */
const OF_CONCATS: readonly Named[] = [{ name: CONCAT_FORM }];
const OF_BROADCASTS: readonly Named[] = [{ name: BROADCAST_FORM }];

/** Where an operation stands: alone, among other convolutions, there before padding, or in a program that is computed in integers. */
export type Surrounding = 'alone' | 'chain' | 'padding' | 'quantized';

const OF_CONVOLUTIONS: Readonly<Record<Surrounding, readonly WrittenForm[]>> = {
  alone: ALONE,
  chain: IN_CHAINS,
  padding: BEFORE_PADDING,
  quantized: QUANTIZED,
};

/** The other forms of an operation, the preferred form first. */
export function formsOf(one: Rewritable, surrounding: Surrounding): readonly Named[] {
  const isInChain = surrounding !== 'alone';
  if (isQuantized(one)) return [IN_INTEGERS];
  if (isAttention(one)) return OF_ATTENTIONS.filter((form) => form.isFor(one));
  if (isConcat(one)) return isInChain ? OF_CONCATS : [];
  if (isBroadcast(one)) return isInChain ? OF_BROADCASTS : [];
  if (isProduct(one)) return [productForm(one)];
  if (isIntegerProduct(one)) return [{ name: INTEGER_PRODUCT_FORM, tiles: { of: 'i8', areNeeded: false } }];
  if (isPackedProduct(one)) return [{ name: PACKED_FORM, tiles: { of: packedType(one), areNeeded: true } }];
  if (isRounding(one)) return [{ name: ROUNDING_FORM }];
  if (isSpread(one)) return [{ name: spreadForm(one) }];
  const own = channelsFirst(one);
  return OF_CONVOLUTIONS[surrounding].flatMap((form) =>
    form.isFor(own) ? { name: form.name, tiles: form.tilesOf?.(own) } : [],
  );
}
