// Operations that can have other forms, and the registry of their kinds.
import type { Operation } from 'mlir-parser-ts';
import { attentions, type Attention } from './attention.ts';
import { broadcasts, type Broadcast } from './broadcast.ts';
import { concats, type Concat } from './concat.ts';
import type { Convolution } from './convolution.ts';
import { convolutions } from './convolutions.ts';
import type { ReplaceableKind, RewritableKind } from './form.ts';
import { integerProducts, type IntegerProduct } from './integer-product.ts';
import { loopsOfPrograms, readLoops, type Loops } from './loops.ts';
import { packedProducts, type PackedProduct } from './packed-product.ts';
import { products, type Product } from './product.ts';
import { quantizedPrograms, type Quantized } from './quantized.ts';
import { quantizations, type Quantization } from './quantization.ts';
import { resizes, type Resize } from './resize.ts';
import { roundings, type Rounding } from './rounding.ts';
import { stepProducts, type StepProduct } from './step-product.ts';
import { storedProducts, type StoredProduct } from './stored-product.ts';
import { tables, type Table } from './table.ts';
import type { SpreadConvolution } from './spread-convolution.ts';
import { spreadConvolutions } from './spread-forms.ts';
import { narrowSums, withWideSums, type NarrowSums } from './wide-sums.ts';

/** An operation that another one replaces. */
export type Replaceable =
  | Convolution
  | NarrowSums
  | SpreadConvolution
  | Product
  | StepProduct
  | IntegerProduct
  | PackedProduct
  | StoredProduct
  | Quantization
  | Table
  | Rounding
  | Attention
  | Concat
  | Broadcast
  | Resize;

export type Rewritable = Replaceable | Quantized | Loops;

const REPLACEABLE: readonly ReplaceableKind<Replaceable>[] = [
  narrowSums,
  spreadConvolutions,
  convolutions,
  stepProducts,
  products,
  integerProducts,
  packedProducts,
  storedProducts,
  quantizations,
  tables,
  roundings,
  concats,
  broadcasts,
  resizes,
  attentions,
];

const KINDS: readonly RewritableKind<Rewritable>[] = [quantizedPrograms, loopsOfPrograms, ...REPLACEABLE];

export function kindOf(one: Replaceable): ReplaceableKind<Replaceable>;
export function kindOf(one: Rewritable): RewritableKind<Rewritable>;
export function kindOf(one: Rewritable): RewritableKind<Rewritable> {
  return KINDS.find((kind) => kind.is(one))!;
}

/** Equal for equal operations. */
export const rewritableKey = (one: Rewritable): string => kindOf(one).key(one);

/** Whether a value, for example from a file, is such an operation. */
export const isRewritable = (value: unknown): value is Rewritable => KINDS.some((kind) => kind.is(value));

/** Whether it can be compared alone with what replaces it. */
export const isReplaceable = (one: Rewritable): one is Replaceable =>
  REPLACEABLE.some((kind) => kind.is(one));

/**
 * Those in a text of the compiler, each once.
 * @param operations of the text
 * @param isOfCopies whether those of dynamic sizes stand in other functions than those that are rewritten
 */
export function readRewritables(
  text: Uint8Array,
  operations: readonly Operation[],
  isOfCopies: boolean,
): Rewritable[] {
  const wide = operations.map((one) => withWideSums(one, text));
  const loops = readLoops(text);
  const all: Rewritable[] = [
    ...(loops === null ? [] : [loops]),
    ...narrowSums.read(text, operations, isOfCopies),
    ...REPLACEABLE.flatMap((kind) => kind.read(text, wide, isOfCopies)),
  ];
  return [...new Map(all.map((one) => [rewritableKey(one), one])).values()];
}
