// Operations that can have other forms.
import { attentionKey, isAttention, writtenAttention, type Attention } from './attention.ts';
import { broadcastKey, isBroadcast, writtenBroadcast, type Broadcast } from './broadcast.ts';
import { concatKey, isConcat, writtenConcat, type Concat } from './concat.ts';
import { convolutionKey, isConvolution, writtenConvolution, type Convolution } from './convolution.ts';
import {
  integerProductKey,
  isIntegerProduct,
  writtenIntegerProduct,
  type IntegerProduct,
} from './integer-product.ts';
import { isQuantized, quantizedKey, type Quantized } from './quantized.ts';
import {
  isPackedProduct,
  packedProductKey,
  writtenPackedProduct,
  type PackedProduct,
} from './packed-product.ts';
import { isProduct, productKey, writtenProduct, type Product } from './product.ts';
import { isRounding, ROUNDED, roundingKey, writtenRounding, type Rounding } from './rounding.ts';
import { isSpread, spreadKey, writtenSpread, type SpreadConvolution } from './spread-convolution.ts';
import type { Tensor } from '../workload/tensor.ts';
import type { Written } from './text.ts';

/** An operation that another one replaces. */
export type Replaceable =
  | Convolution
  | SpreadConvolution
  | Product
  | IntegerProduct
  | PackedProduct
  | Rounding
  | Attention
  | Concat
  | Broadcast;

export type Rewritable = Replaceable | Quantized;

/** Whether it can be compared alone with what replaces it. */
export const isReplaceable = (one: Rewritable): one is Replaceable => !isQuantized(one);

/** Equal for equal operations. */
export function rewritableKey(one: Rewritable): string {
  if (isQuantized(one)) return quantizedKey(one);
  if (isAttention(one)) return attentionKey(one);
  if (isConcat(one)) return concatKey(one);
  if (isSpread(one)) return spreadKey(one);
  if (isProduct(one)) return productKey(one);
  if (isIntegerProduct(one)) return integerProductKey(one);
  if (isPackedProduct(one)) return packedProductKey(one);
  if (isRounding(one)) return roundingKey(one);
  return isBroadcast(one) ? broadcastKey(one) : convolutionKey(one);
}

/** The type of its result. */
export function resultOf(one: Replaceable): Tensor {
  if (isRounding(one)) return ROUNDED;
  return isSpread(one) ? one.convolution.result : one.result;
}

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
export const isRewritable = (value: unknown): value is Rewritable =>
  [
    isQuantized,
    isAttention,
    isConcat,
    isBroadcast,
    isSpread,
    isProduct,
    isIntegerProduct,
    isPackedProduct,
    isRounding,
    isConvolution,
  ].some((is) => is(value));

/** An operation as the program has it. */
export function writtenOf(one: Replaceable): Written {
  if (isAttention(one)) return writtenAttention(one);
  if (isConcat(one)) return writtenConcat(one);
  if (isSpread(one)) return writtenSpread(one);
  if (isProduct(one)) return writtenProduct(one);
  if (isIntegerProduct(one)) return writtenIntegerProduct(one);
  if (isPackedProduct(one)) return writtenPackedProduct(one);
  if (isRounding(one)) return writtenRounding();
  return isBroadcast(one) ? writtenBroadcast(one) : writtenConvolution(one);
}
