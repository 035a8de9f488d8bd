// A form is one way to write an operation's work. It limits the code that the compiler can generate.
import type { Attention } from './attention.ts';
import type { Convolution } from './convolution.ts';
import type { Packed, Packing } from './packing.ts';
import type { Value, Writer } from './text.ts';

/** Image, filter and the accumulator that the result is added to. */
export type Operands = readonly [image: Value, filter: Value, accumulator: Value];

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

/** A form that replaces each convolution by written operations. */
export interface WrittenForm extends Omit<Named, 'tiles'> {
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

/** A form that compiler passes give to all attentions of a program. */
export interface PassesForm extends Named {
  isFor(attention: Attention): boolean;
  /** Function passes in order. */
  readonly passes: readonly string[];
}
