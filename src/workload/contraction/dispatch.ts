// The dispatch that a contraction is the root of: what the compiler generates code for in a program.
import { isIntegerWithin, isObject } from '../../system/data.ts';
import { isSimpleType } from '../element-type.ts';

/** A contraction that is not alone in its dispatch, has strided operands, or finds its weights out of the caches. */
export interface Context {
  /** Equal for equal dispatches, whatever things are called in them; hexadecimal. */
  readonly digest: string;
  /** What is measured; absent in a database, whose text no compiler is given. */
  readonly dispatch?: Dispatch;
}

/** A dispatch as text, and what its operands are in the program. Whether a value is one is `isDispatch`. */
export interface Dispatch {
  /** A `func.func` called `@dispatch`, as the compiler writes it at the end of `flow`. */
  readonly text: string;
  /** Its arguments, in order; the last one is written, or the last ones are. */
  readonly arguments: readonly DispatchArgument[];
  /** How many are written; absent for one. */
  readonly results?: number;
  /** For each loop of the contraction, outermost first, the index of the workload's dimension that it runs over. */
  readonly loops: readonly number[];
  /** The root reads an operand with strides: matchers of contractions do not find it. */
  readonly isStrided: boolean;
}

export interface DispatchArgument {
  readonly shape: readonly number[];
  readonly elementType: string;
  /**
   * How many buffers of this size pass by in the program before the same one is read again; 1 for what was just
   * written, or is read again at once.
   */
  readonly buffers: number;
}

/** Whether its result is a part of a tensor that is there before, as where the next operation wants it padded. */
export const writesPart = ({ text }: Dispatch): boolean => text.includes('.dispatch.tensor<readwrite:');

/** No dispatch has as many. */
const MOST_ARGUMENTS = 1024;

/** Whether a value of a file of ours is a dispatch. */
export function isDispatch(value: unknown): value is Dispatch {
  if (!isObject(value)) return false;
  const { text, arguments: all, results = 1, loops, isStrided } = value;
  return (
    typeof text === 'string' &&
    isIntegerWithin(results, 1, MOST_ARGUMENTS) &&
    typeof isStrided === 'boolean' &&
    Array.isArray(loops) &&
    Array.isArray(all) &&
    all.length > 0 &&
    all.every(isArgument)
  );
}

const isArgument = (value: unknown): value is DispatchArgument =>
  isObject(value) &&
  Array.isArray(value['shape']) &&
  value['shape'].every((size) => isIntegerWithin(size, 1, Number.MAX_SAFE_INTEGER)) &&
  typeof value['elementType'] === 'string' &&
  isSimpleType(value['elementType']) &&
  isIntegerWithin(value['buffers'], 1, Number.MAX_SAFE_INTEGER);
