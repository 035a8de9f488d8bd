// Rules of the SPIR-V pipelines with shared memory, for matrix products. The compiler checks some of them for named operations only.
import { elementBits } from '../../workload/element-type.ts';
import type { OperationWork } from '../../workload/workload.ts';
import type { GpuTarget } from '../gpu/target.ts';
import { powers } from '../gpu/tiles.ts';
import type { CooperativeConfiguration, PromotedConfiguration } from './configuration.ts';
import { threadsOf } from './render.ts';

type SharedConfiguration = CooperativeConfiguration | PromotedConfiguration;

/** The dimensions of a product; batches come before. */
export interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** The dimensions of a product with row-major operands; null for other workloads. */
export function productOf({ dimensions, lhs, rhs, accumulator, windows }: OperationWork): Product | null {
  const of = (wanted: string) => dimensions.flatMap(({ kind }, d) => (kind === wanted ? [d] : []));
  const [m, n, k, batch] = [of('m'), of('n'), of('k'), of('batch')];
  const isPlain =
    windows === undefined &&
    [m, n, k].every((own) => own.length === 1) &&
    lhs.dimensions.join() === [...batch, ...m, ...k].join() &&
    rhs.dimensions.join() === [...batch, ...k, ...n].join() &&
    accumulator.dimensions.join() === [...batch, ...m, ...n].join();
  return isPlain ? { m: m[0]!, n: n[0]!, k: k[0]! } : null;
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
  workload: OperationWork,
  { m, n, k }: Product,
  c: SharedConfiguration,
  target: GpuTarget,
): string | null {
  const { dimensions, lhs, rhs, accumulator } = workload;
  for (const [d, { size }] of dimensions.entries())
    if (size % (c.workgroup[d]! || c.reduction[d]!) !== 0) return 'a tile leaves a remainder';
  const counts = threadsOf(c)
    .filter((count) => count > 0)
    .toReversed();
  const threads = counts.reduce((all, count) => all * count, 1);
  if (counts.some((count) => !Number.isInteger(Math.log2(count)))) return 'threads are no power of two';
  if (counts.slice(0, 3).some((count, i) => count > target.workgroupSizes[i]!) || threads > target.threads)
    return 'too many threads';
  if (threads % target.subgroupSizes[0]! !== 0) return 'threads are no whole subgroups';
  const [rows, columns, depth] = [c.workgroup[m]!, c.workgroup[n]!, c.reduction[k]!];
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
