// Functions of candidates that write their result between guards, into memory of the caller. They call the kernels of the plain
// functions, so they reveal a kernel that writes outside of its result. Without guards such a write mostly has no effect.
import { elementBits } from './element-type.ts';
import { GUARD_BYTES, viewLines } from './fillers.ts';
import { elementsOf, tensorText, type Tensor } from './tensor.ts';

/** Fills the memory beforehand. These bytes are a large finite number in every float and integer type. */
export const UNWRITTEN_BYTE = 123;

const SUFFIX = '_guarded';

export const guardedName = (plain: string): string => `${plain}${SUFFIX}`;

/** The name of the plain function for a function, guarded or not. */
export const plainName = (name: string): string =>
  name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name;

/** Bytes of the memory: the result and both guards. */
export const guardedBytes = (resultBytes: number): number => resultBytes + 2 * GUARD_BYTES;

/** The first line of a guarded function. */
export const guardedSignature = (name: string): string =>
  `util.func public @${name}(%memory_filled: !hal.buffer_view) -> !hal.buffer_view`;

/** The value of a result in the text, its type, and the values of its dynamic sizes. */
interface Written {
  readonly value?: string;
  readonly type?: string;
  readonly sizes?: readonly string[];
}

/** The last lines of a guarded function, which returns all of the memory. */
export function guardedReturn(
  result: Tensor,
  { value = '%result', type = tensorText(result), sizes = [] }: Written,
): string {
  const { shape, elementType } = result;
  const typed = sizes.length === 0 ? type : `${type}{${sizes.join(', ')}}`;
  const length = (elementsOf(shape) * elementBits(elementType)) / 8;
  return `${viewLines({ name: 'memory', shape, elementType }, { offset: GUARD_BYTES, length })}
  %written = hal.tensor.alias ${value} : ${typed} to %memory_view : !hal.buffer_view
  %exported = hal.tensor.export %written : ${typed} -> !hal.buffer_view
  // The barrier keeps the computation, which has no other use.
  %kept = util.optimization_barrier %exported : !hal.buffer_view
  util.return %memory_filled : !hal.buffer_view`;
}

/** Whether a guarded function left the guards in its memory unchanged. */
export const areGuardsWhole = (memory: Uint8Array): boolean =>
  memory.subarray(0, GUARD_BYTES).every(isUnwritten) && memory.subarray(-GUARD_BYTES).every(isUnwritten);

const isUnwritten = (byte: number) => byte === UNWRITTEN_BYTE;

export const resultIn = (memory: Uint8Array): Uint8Array => memory.subarray(GUARD_BYTES, -GUARD_BYTES);
