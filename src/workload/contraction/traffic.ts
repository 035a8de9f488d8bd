// Memory traffic of contractions, and their estimated cost.
import { elementBits } from '../element-type.ts';
import { contractionFlops, extentsOf, type Contraction, type OperandForm } from './contraction.ts';

/** Arithmetic operations per byte read. With more, reads from memory do not limit the speed. */
export const BOUND_BY_WORK = 40;

/**
 * The same limit for processors with vectors of 64 bytes, in programs that read more than any cache holds. Such processors
 * compute several times as much during a read from memory, so tiles that read weights twice can lose there.
 */
export const BOUND_BY_WIDE_WORK = 512;

/** In bytes. Smaller operands always stay in a cache. */
export const LEAST_STREAMED = 64 * 1024;

export function isBoundByMemory(workload: Contraction): boolean {
  const bytes = [workload.lhs, workload.rhs].map((operand) => bytesOf(workload, operand));
  const streamed = bytes.filter((size) => size >= LEAST_STREAMED).reduce((sum, size) => sum + size, 0);
  return streamed > 0 && contractionFlops(workload) / streamed < BOUND_BY_WORK;
}

/** Bytes of both operands and the result, each counted once, at the largest sizes of dynamic dimensions. */
export const contractionBytes = (workload: Contraction): number =>
  bytesOf(workload, workload.lhs) + bytesOf(workload, workload.rhs) + bytesOf(workload, workload.accumulator);

const bytesOf = (workload: Contraction, operand: OperandForm): number =>
  extentsOf(workload, operand).reduce((bytes, size) => bytes * size, elementBits(operand.elementType) / 8);

/** Slowdown of scalar code against vectorised code. */
const SCALAR = 16;

/** Arithmetic operations in the time that the default needs to read one byte. */
const OPERATIONS_PER_BYTE = 2;

/**
 * Whether the default is probably scalar code: it is for strided operands, and for a filter over an image whose size no tile
 * divides.
 */
function isLikelyScalar({ dimensions, windows, context }: Contraction): boolean {
  if (windows === undefined) return context?.dispatch?.isStrided === true;
  const inside = new Set(windows.map(([, within]) => within));
  const isDepthwise = dimensions.every(({ kind }, d) => kind !== 'k' || inside.has(d));
  const least = isDepthwise ? 2 : 4;
  return windows.some(([along]) => dimensions[along]!.size > 1 && dimensions[along]!.size % least > 0);
}

/** Estimated cost of one execution by the default, in vectorised arithmetic operations. */
export function likelyCost(workload: Contraction): number {
  const { lhs, rhs } = workload;
  const work = contractionFlops(workload) * (isLikelyScalar(workload) ? SCALAR : 1);
  return work + OPERATIONS_PER_BYTE * (bytesOf(workload, lhs) + bytesOf(workload, rhs));
}
