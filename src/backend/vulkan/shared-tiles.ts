// Rules of the SPIR-V pipelines with shared memory, for matrix products. The compiler checks some of them for named operations only.
import { elementBits } from '../../workload/element-type.ts';
import type { OperationWork } from '../../workload/workload.ts';
import { product } from '../gpu/configuration.ts';
import { isMatmul, rolesOf, type Shaped } from '../gpu/roles.ts';
import type { GpuTarget } from '../gpu/target.ts';
import { isPowerOfTwo, powers } from '../gpu/tiles.ts';
import { threadsOf, type CooperativeConfiguration, type PromotedConfiguration } from './configuration.ts';

type SharedConfiguration = CooperativeConfiguration | PromotedConfiguration;

/** A product with row-major operands; null for other workloads. */
export function productOf(workload: OperationWork): Shaped | null {
  if (!isMatmul(workload)) return null;
  const roles = rolesOf(workload)!;
  const { dimensions, lhs, rhs, accumulator } = workload;
  const { row, column, depth } = roles;
  const batch = dimensions.flatMap(({ kind }, d) => (kind === 'batch' ? [d] : []));
  const isPlain =
    lhs.dimensions.join() === [...batch, row, depth].join() &&
    rhs.dimensions.join() === [...batch, depth, column].join() &&
    accumulator.dimensions.join() === [...batch, row, column].join();
  return isPlain ? { workload, roles } : null;
}

/** The largest power of two up to `most` by which a dimension divides into whole tiles. */
export const fitting = (size: number, tile: number, most: number): number =>
  powers(most).findLast((count) => size % (tile * count) === 0) ?? 1;

/** Bits of the widest load. */
const LOAD_BITS = 128;

/** Elements of one load. */
export const loadOf = ({ lhs, rhs }: OperationWork): number =>
  LOAD_BITS / Math.min(elementBits(lhs.elementType), elementBits(rhs.elementType));

/** Bytes between the rows of a tile in shared memory. */
const ROW_PADDING = LOAD_BITS / 8;

/** Buffers of an operand's tile in shared memory. */
const buffersOf = ({ kind, depth, storeStage }: SharedConfiguration): number =>
  kind === 'spirv-promoted' && storeStage === 1 ? depth : depth + 1;

/** The broken rule; null if there is none. */
export function illegality(
  { workload, roles }: Shaped,
  c: SharedConfiguration,
  target: GpuTarget,
): string | null {
  const { dimensions, lhs, rhs, accumulator } = workload;
  for (const [d, { size }] of dimensions.entries())
    if (size % (c.workgroup[d]! || c.reduction[d]!) !== 0) return 'a tile leaves a remainder';
  const counts = threadsOf(c)
    .filter((count) => count > 0)
    .toReversed();
  const threads = product(counts);
  if (!counts.every(isPowerOfTwo)) return 'threads are no power of two';
  if (counts.slice(0, 3).some((count, i) => count > target.workgroupSizes[i]!) || threads > target.threads)
    return 'too many threads';
  if (threads % target.subgroupSizes[0]! !== 0) return 'threads are no whole subgroups';
  const [rows, columns, depth] = [
    c.workgroup[roles.row]!,
    c.workgroup[roles.column]!,
    c.reduction[roles.depth]!,
  ];
  const load = threads * loadOf(workload);
  if ((rows * depth) % load !== 0 || (columns * depth) % load !== 0)
    return 'not every thread loads whole vectors';
  const bytes = (elements: number, lines: number, { elementType }: typeof lhs) =>
    (elements * elementBits(elementType)) / 8 + lines * ROW_PADDING;
  const shared = bytes(rows * depth, rows, lhs) + bytes(depth * columns, depth, rhs);
  // Matrix instructions leave the result in shared memory for a fused operation. The workload does not tell whether there is one.
  const result = c.kind === 'spirv-cooperative' ? bytes(rows * columns, rows, accumulator) : 0;
  return buffersOf(c) * shared + result > target.sharedMemoryBytes ? 'too little shared memory' : null;
}
