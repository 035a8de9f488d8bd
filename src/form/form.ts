// A form is one way to write an operation's work. It limits the code that the compiler can generate.
import type { Operation } from 'mlir-parser-ts';
import type { Tensor } from '../workload/tensor.ts';
import type { Convolution } from './convolution.ts';
import type { FormName, Packed, Packing } from './packing.ts';
import type { Value, Writer, Written } from './text.ts';

export interface Tiles {
  readonly of: Packed;
  readonly areNeeded: boolean;
}

export interface Named {
  /** A single word. */
  readonly name: string;
  /** The type of factors in tiles, and whether they have to be. The name of a chosen form has the packing. Absent without products in tiles. */
  readonly tiles?: Tiles | undefined;
}

/** The surroundings of an operation, on which its forms depend, too. */
export interface Neighbours {
  /** Whether it stands alone, among other convolutions, or in a program that is computed in integers. */
  readonly place: 'alone' | 'chain' | 'quantized';
  /** Whether values of this type are images of convolutions. */
  readonly isImage: (value: Tensor) => boolean;
  /** Whether another convolution pads a convolution's result. */
  readonly isPadded: (convolution: Convolution) => boolean;
  /** Whether the target is a CPU. */
  readonly isForCpu: boolean;
}

/**
 * Whether an operation moves or combines images in a chain of convolutions, where channels are innermost and no operation may stop a transpose.
 * Operations on other values, such as joins of the two directions of an LSTM, gain nothing.
 */
export const isBetweenImages = (
  { operands, result }: { readonly operands: readonly Tensor[]; readonly result: Tensor },
  { place, isImage }: Neighbours,
): boolean => place !== 'alone' && [result, ...operands].some(isImage);

/** An operation in its form. */
export interface InForm {
  /** Its result. */
  readonly value: Value;
  /** Images between which element-wise operations may be, so that their transposes may cancel. */
  readonly images?: readonly Tensor[];
  /** A padding that the matched operation reads, as an insertion into zeros. */
  readonly padding?: Tensor | null;
}

/** Operations of one kind that have other forms. Each kind is one object of this type, in a file of its own, and a line in `rewritable.ts`. */
export interface RewritableKind<T> {
  /** Whether a value, for example from a file, is such an operation. Checks every field, because all are written into MLIR. */
  is(value: unknown): value is T;
  /** Equal for equal operations. */
  key(one: T): string;
  /** Its other forms, the preferred form first. */
  formsOf(one: T, neighbours: Neighbours): readonly Named[];
  /** Function passes that run before operations are replaced, or after it, as the transform dialect writes them. */
  passesBefore?(one: T): readonly string[];
  passesAfter?(one: T): readonly string[];
  /** Statements that unroll loops after operations are replaced. @param root handle of the module */
  unrolling?(one: T, root: string): string;
  /** Sizes of the loops of its dispatch, if the name of the dispatch has them. */
  loopsOf?(one: T): readonly number[];
  /** Estimated speed-up of its forms by tuned tiles; absent for 1. */
  tuningGain?(one: T): number;
}

/** Operations that can be compared alone with what replaces them. */
export interface ReplaceableKind<T> extends RewritableKind<T> {
  /** See `readRewritables`. The same operation may be found more than once. */
  read(text: Uint8Array, operations: readonly Operation[], isOfCopies: boolean): readonly T[];
  /** The operation as the program has it. */
  writtenOf(one: T): Written;
  /** The type of its result. */
  resultOf(one: T): Tensor;
  /**
   * Writes the operation in a form; absent if only passes rewrite it.
   * @throws RangeError for a form that the operation does not have
   */
  write?(writer: Writer, one: T, operands: readonly Value[], form: FormName): InForm;
  /** Kinds of the first turn are replaced first, and those without a turn last, after element-wise operations are fused. */
  readonly turn?: 1 | 2;
}

/** Image, filter and the accumulator that the result is added to. */
export type Operands = readonly [image: Value, filter: Value, accumulator: Value];

/** A form that replaces each convolution by written operations. */
export interface ConvolutionForm extends Omit<Named, 'tiles'> {
  /** Whether the form suits a convolution. */
  isFor(convolution: Convolution): boolean;
  /** Absent for a form without products in tiles. */
  tilesOf?(convolution: Convolution): Tiles | undefined;
  /**
   * Writes the work of a convolution. Returns the result, which has the type of the accumulator.
   * @param packing tiles of products; null to leave their layout to the compiler
   */
  write(writer: Writer, convolution: Convolution, operands: Operands, packing: Packing | null): Value;
}
