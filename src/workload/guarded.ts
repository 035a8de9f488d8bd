// Functions of candidates that write their result between guards, into memory that they are given. They call the kernels of the
// plain functions, so a kernel that writes outside of its result is found. In memory of its own such a write mostly goes unseen.
import { elementBits } from './element-type.ts';
import { elementsOf, GUARD_BYTES, viewLines } from './fillers.ts';
import { tensorText, type Tensor } from './tensor.ts';

/** What the memory is filled with before: of such bytes every type of float has a finite number, and a large one, as integers have. */
export const UNWRITTEN_BYTE = 123;

const SUFFIX = '_guarded';

export const guardedName = (plain: string): string => `${plain}${SUFFIX}`;

/** What the plain function of a function is called. */
export const plainName = (name: string): string =>
  name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name;

/** Bytes of the memory, of which the result takes some. */
export const guardedBytes = (resultBytes: number): number => resultBytes + 2 * GUARD_BYTES;

/** The first line of a guarded function. */
export const guardedSignature = (name: string): string =>
  `util.func public @${name}(%memory_filled: !hal.buffer_view) -> !hal.buffer_view`;

/** A result as it stands in the text. */
interface Written {
  readonly value?: string;
  /** Where it is not static. */
  readonly type?: string;
  readonly sizes?: readonly string[];
}

/** The last lines of a guarded function: they give all of the memory back. */
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
  // Without a use nothing would be computed.
  %kept = util.optimization_barrier %exported : !hal.buffer_view
  util.return %memory_filled : !hal.buffer_view`;
}

/** Whether nothing was written outside of the result in memory that a guarded function has given back. */
export const areGuardsWhole = (memory: Uint8Array): boolean =>
  memory.subarray(0, GUARD_BYTES).every(isUnwritten) && memory.subarray(-GUARD_BYTES).every(isUnwritten);

const isUnwritten = (byte: number) => byte === UNWRITTEN_BYTE;

/** The result in such memory. */
export const resultIn = (memory: Uint8Array): Uint8Array => memory.subarray(GUARD_BYTES, -GUARD_BYTES);
