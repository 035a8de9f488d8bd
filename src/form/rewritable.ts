// Operations of a program that can be written in another form.
import { attentionKey, isAttention, type Attention } from './attention.ts';
import { convolutionKey, isConvolution, type Convolution } from './convolution.ts';

export type Rewritable = Convolution | Attention;

/** Equal for operations that do the same. */
export const rewritableKey = (one: Rewritable): string =>
  isAttention(one) ? attentionKey(one) : convolutionKey(one);

/** Whether a value, of a file say, is one as this type describes it: all of it is written into MLIR. */
export const isRewritable = (value: unknown): value is Rewritable =>
  isAttention(value) || isConvolution(value);
