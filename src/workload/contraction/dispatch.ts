// The dispatch in which a contraction is measured: the compiler generates code for the whole dispatch.
import { hasFields, isBoolean, isIntegerWithin, isText, optional } from '../../system/data.ts';
import { isSimpleType } from '../element-type.ts';
import { isFew, isSize } from '../sizes.ts';
import { isSizes, type Tensor } from '../tensor.ts';

/** The surroundings of a contraction with other work in its dispatch, with strided operands, or with weights from memory. */
export interface Context {
  /** Digest of the dispatch, hexadecimal. Independent of names. */
  readonly digest: string;
  /** The dispatch to measure. Absent in a database: text from a database must not reach the compiler. */
  readonly dispatch?: Dispatch;
}

/** A dispatch as text, and its arguments in the program. */
export interface Dispatch {
  /** A `func.func @dispatch`, as the compiler prints it after its phase `flow`. */
  readonly text: string;
  /** The arguments in order: inputs, then results. */
  readonly arguments: readonly DispatchArgument[];
  /** Number of results; absent for one. */
  readonly results?: number;
  /** For each loop of the contraction, outermost first, the index of its dimension in the workload. */
  readonly loops: readonly number[];
  /** Whether the root reads an operand with strides, so that matchers of contractions do not find it. */
  readonly isStrided: boolean;
}

export interface DispatchArgument extends Tensor {
  /** Number of buffers of this size that the program reads before it reads the same buffer again. */
  readonly buffers: number;
}

/** Whether the dispatch writes a part of an existing tensor, for example because the next operation needs padding. */
export const writesPart = ({ text }: Dispatch): boolean => text.includes('.dispatch.tensor<readwrite:');

/** No dispatch has more. */
const MOST_ARGUMENTS = 1024;

const isArgument = hasFields<DispatchArgument>({
  shape: isSizes,
  elementType: isSimpleType,
  buffers: isSize,
});

/** Whether a value of a cache file is a dispatch. */
export const isDispatch = hasFields<Dispatch>({
  text: isText,
  arguments: (all) => isFew(all, MOST_ARGUMENTS) && all.every(isArgument),
  results: optional((results) => isIntegerWithin(results, 1, MOST_ARGUMENTS)),
  loops: Array.isArray,
  isStrided: isBoolean,
});
