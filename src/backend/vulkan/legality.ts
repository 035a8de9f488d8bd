// Rules of `BaseVectorize`: a configuration that passes compiles, and computes the right result. The compiler itself accepts tiles
// that leave a remainder, and then sums a part twice.
import type { OperationWork } from '../../workload/workload.ts';
import { product } from '../gpu/configuration.ts';
import type { GpuTarget } from '../gpu/target.ts';
import { threadsOf, type SpirvTileConfiguration } from './configuration.ts';

/** Most results of one thread without register spills. */
export const MOST_RESULTS = 128;

/** Most products of one thread. The compiler unrolls all, and takes seconds for more. */
const MOST_PRODUCTS = 2048;

/** A workgroup has threads along x, y and z. */
const THREAD_DIMENSIONS = 3;

/** The broken rule; null for a legal configuration. Pure. */
export function illegality(
  workload: OperationWork,
  c: SpirvTileConfiguration,
  target: GpuTarget,
): string | null {
  const { dimensions, accumulator } = workload;
  const threads = threadsOf(c);
  for (const [d, { kind, size }] of dimensions.entries()) {
    const isReduced = kind === 'k';
    const [tile, other] = isReduced ? [c.reduction[d]!, c.workgroup[d]!] : [c.workgroup[d]!, c.reduction[d]!];
    if (tile < 1 || other !== 0) return `${kind} has no tile`;
    if (size % tile !== 0) return `${tile} does not divide ${kind}=${size}`;
    if (!isReduced && !Number.isInteger(threads[d])) return `no whole number of threads along ${kind}`;
  }
  const parallel = accumulator.dimensions.map((d) => threads[d]!).toReversed();
  if (parallel.slice(THREAD_DIMENSIONS).some((count) => count > 1)) return 'threads along a fourth dimension';
  if (parallel.slice(0, THREAD_DIMENSIONS).some((count, i) => count > target.workgroupSizes[i]!))
    return 'more threads along a dimension than the GPU has';
  if (product(parallel) > target.threads) return `more than ${target.threads} threads`;
  if (isMisaligned(workload, c)) return 'loads from an image are not aligned';
  const results = product(c.thread);
  if (results > MOST_RESULTS) return `more than ${MOST_RESULTS} results of a thread`;
  return results * product(c.reduction) > MOST_PRODUCTS
    ? `more than ${MOST_PRODUCTS} products of a thread`
    : null;
}

const WIDEST_LOAD = 4;

/**
 * Whether a thread loads columns of an image at once from addresses that are no multiple of the load. The compiler merges the loads of an
 * even number of elements where the innermost size of the buffer is a multiple, and never checks the offset that the filter adds.
 */
function isMisaligned(
  { accumulator, rhs, dimensions, windows = [], context }: OperationWork,
  c: SpirvTileConfiguration,
): boolean {
  const lane = accumulator.dimensions.at(-1)!;
  const inside = windows.find(([along]) => along === lane)?.[1];
  const tile = c.thread[lane]!;
  if (inside === undefined || tile % 2 === 1) return false;
  const dispatch = context?.dispatch;
  if (dispatch === undefined) return true;
  const others = [rhs, accumulator].map((operand) =>
    sizesKey(operand.dimensions.map((d) => dimensions[d]!.size)),
  );
  // Steps of one: with other steps a thread loads another number of elements than its tile has.
  const width = dimensions[lane]!.size + dimensions[inside]!.size - 1;
  return dispatch.arguments
    .slice(0, -(dispatch.results ?? 1))
    .filter(({ shape }) => shape.length > 1 && !others.includes(sizesKey(shape)))
    .some(({ shape }) => {
      const load = tile % WIDEST_LOAD === 0 && shape.at(-1) === width ? WIDEST_LOAD : 2;
      return shape.at(-1)! % load === 0;
    });
}

/** Equal for shapes that differ by dimensions of one element alone. */
const sizesKey = (shape: readonly number[]) => shape.filter((size) => size > 1).join();
