// What a contraction reads, against what it does with it.
import { elementBits } from '../element-type.ts';
import { contractionFlops, extentsOf, type Contraction, type OperandForm } from './contraction.ts';

/** Operations on numbers for each byte read from which on it does not matter where the bytes come from. */
export const BOUND_BY_WORK = 40;

/**
 * The same of processors with vectors of 64 bytes, in programs that read more than any cache keeps: they do several times as much
 * while a byte comes from memory, and tiles that read weights twice lose there what they gain where weights are in a cache.
 */
export const BOUND_BY_WIDE_WORK = 512;

/** Operands that are smaller than this stay in the caches whatever passes by, in bytes. */
export const LEAST_STREAMED = 64 * 1024;

/** Whether it waits for operands that may have to come from memory. */
export function isBoundByMemory(workload: Contraction): boolean {
  const bytes = [workload.lhs, workload.rhs].map((operand) => bytesOf(workload, operand));
  const streamed = bytes.filter((size) => size >= LEAST_STREAMED).reduce((sum, size) => sum + size, 0);
  return streamed > 0 && contractionFlops(workload) / streamed < BOUND_BY_WORK;
}

/** Bytes of both operands and the result, once each; at the largest sizes of dynamic dimensions. */
export const contractionBytes = (workload: Contraction): number =>
  bytesOf(workload, workload.lhs) + bytesOf(workload, workload.rhs) + bytesOf(workload, workload.accumulator);

const bytesOf = (workload: Contraction, operand: OperandForm): number =>
  extentsOf(workload, operand).reduce((bytes, size) => bytes * size, elementBits(operand.elementType) / 8);

/** How many times longer scalar code takes than that with vectors. */
const SCALAR = 16;

/** Operations on numbers in the time in which the default reads a byte that nothing else is done with. */
const OPERATIONS_PER_BYTE = 2;

/**
 * Whether the compiler makes no vectors of it, or hardly any, as far as one can tell: it does not of what is read with strides,
 * nor where it finds no tile that divides the image that a filter is moved over.
 */
function isLikelyScalar({ dimensions, windows, context }: Contraction): boolean {
  if (windows === undefined) return context?.dispatch?.isStrided === true;
  const inside = new Set(windows.map(([, within]) => within));
  const isDepthwise = dimensions.every(({ kind }, d) => kind !== 'k' || inside.has(d));
  const least = isDepthwise ? 2 : 4;
  return windows.some(([along]) => dimensions[along]!.size > 1 && dimensions[along]!.size % least > 0);
}

/** What one execution by the default takes, in operations on numbers in vectors. */
export function likelyCost(workload: Contraction): number {
  const { lhs, rhs } = workload;
  const work = contractionFlops(workload) * (isLikelyScalar(workload) ? SCALAR : 1);
  return work + OPERATIONS_PER_BYTE * (bytesOf(workload, lhs) + bytesOf(workload, rhs));
}
