// A form is one way to write an operation's work. The form decides which code the compiler can generate at all.
import type { Attention } from './attention.ts';
import type { Convolution } from './convolution.ts';
import type { Value, Writer } from './text.ts';

/** Image, filter and the values that the result is added to. */
export type Operands = readonly [image: Value, filter: Value, accumulator: Value];

interface Named {
  /** A single word. */
  readonly name: string;
}

/** A form of convolutions, each of which is replaced by what is written. */
export interface WrittenForm extends Named {
  /** Whether a convolution can be written in it. */
  isFor(convolution: Convolution): boolean;
  /** Writes the work of a convolution; gives the result, of the type of the accumulator. */
  write(writer: Writer, convolution: Convolution, operands: Operands): Value;
}

/** A form that passes of the compiler give to all attentions of a program. */
export interface PassesForm extends Named {
  isFor(attention: Attention): boolean;
  /** Of functions, in their order. */
  readonly passes: readonly string[];
}
