// Operations that can have other forms.
import { attentionKey, isAttention, writtenAttention, type Attention } from './attention.ts';
import { concatKey, isConcat, writtenConcat, type Concat } from './concat.ts';
import { convolutionKey, isConvolution, writtenConvolution, type Convolution } from './convolution.ts';
import type { Written } from './text.ts';

export type Rewritable = Convolution | Attention | Concat;

/** Equal for equal operations. */
export const rewritableKey = (one: Rewritable): string =>
  isAttention(one) ? attentionKey(one) : isConcat(one) ? concatKey(one) : convolutionKey(one);

/** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
export const isRewritable = (value: unknown): value is Rewritable =>
  isAttention(value) || isConcat(value) || isConvolution(value);

/** An operation as the program has it. */
export const writtenOf = (one: Rewritable): Written =>
  isAttention(one) ? writtenAttention(one) : isConcat(one) ? writtenConcat(one) : writtenConvolution(one);
