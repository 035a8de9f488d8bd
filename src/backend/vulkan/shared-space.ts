// The spaces of products through shared memory: `MatmulPromoteVectorize`, in which each thread computes a tile, and
// `CooperativeMatrixVectorize`, in which subgroups multiply with matrix instructions.
import type { SearchSpace } from '../../search/space.ts';
import { elementBits } from '../../workload/element-type.ts';
import type { OperationWork } from '../../workload/workload.ts';
import { spaceOfChoices } from '../choices.ts';
import type { Configuration } from '../configuration.ts';
import { product } from '../gpu/configuration.ts';
import { mmasFor } from '../gpu/legality.ts';
import { isMatmul, matmulLevel, rolesOf, stepsOf, type Shaped } from '../gpu/roles.ts';
import type { GpuTarget } from '../gpu/target.ts';
import { isPowerOfTwo, powers } from '../tiles.ts';
import { threadsOf, type CooperativeConfiguration, type PromotedConfiguration } from './configuration.ts';
import { MOST_RESULTS } from './legality.ts';

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
const fitting = (size: number, tile: number, most: number): number =>
  powers(most).findLast((count) => size % (tile * count) === 0) ?? 1;

/** Columns of 8 bits for which the compiler makes invalid vectors with most steps along k. */
const REFUSED_COLUMNS = 8;

/** Pipeline depths and store stages. */
const BUFFERS = [
  [1, 1],
  [2, 0],
  [1, 0],
] as const;

type Recipe = readonly [
  row: number,
  column: number,
  rows: number,
  columns: number,
  depth: number,
  last: number,
];

/** Tiles of a thread, threads, steps along k, and an index into `BUFFERS`. */
const PROMOTED_RECIPES: readonly Recipe[] = [
  [8, 4, 8, 32, 16, 0],
  [4, 4, 8, 32, 32, 0],
  [8, 4, 8, 16, 16, 1],
  [8, 8, 16, 16, 16, 0],
  [4, 8, 16, 16, 16, 1],
  [4, 4, 16, 16, 32, 0],
  [8, 4, 4, 16, 32, 0],
];

/** Null for a workload other than a product with row-major operands. Pure. */
export function promotedSpace(workload: OperationWork, target: GpuTarget): SearchSpace<Configuration> | null {
  const shaped = productOf(workload);
  if (shaped === null) return null;
  const { row: m, column: n, depth: k } = shaped.roles;
  const { dimensions } = workload;
  const steps = powers(64).filter((step) => step >= loadOf(workload) && dimensions[k]!.size % step === 0);
  if (steps.length === 0) return null;
  return spaceOfChoices({
    kind: 'spirv-promoted',
    knobs: {
      'tile.row': { values: powers(16), of: ({ thread }) => thread[m]!, isInner: true },
      'tile.column': { values: powers(16), of: ({ thread }) => thread[n]!, isInner: true },
      'threads.row': { values: powers(32), of: ({ workgroup, thread }) => workgroup[m]! / thread[m]! },
      'threads.column': {
        // With one column of threads the compiler finds too few threads.
        values: powers(64).slice(1),
        of: ({ workgroup, thread }) => workgroup[n]! / thread[n]!,
      },
      depth: { values: steps, of: ({ reduction }) => reduction[k]! },
      buffers: {
        values: [...BUFFERS.keys()],
        of: (c) => BUFFERS.findIndex(([depth, stage]) => depth === c.depth && stage === c.storeStage),
      },
    },
    starts: PROMOTED_RECIPES.map(([row, column, rows, columns, depth, buffers]) => ({
      ...{ 'tile.row': row, 'tile.column': column, depth, buffers },
      'threads.row': fitting(dimensions[m]!.size, row, rows),
      'threads.column': fitting(dimensions[n]!.size, column, columns),
    })),
    at(choice) {
      const [row, column] = [choice['tile.row'], choice['tile.column']];
      const [depth, storeStage] = BUFFERS[choice.buffers]!;
      const c: PromotedConfiguration = {
        ...{ version: 1, kind: 'spirv-promoted', depth, storeStage },
        workgroup: matmulLevel(shaped, row * choice['threads.row'], column * choice['threads.column']),
        thread: matmulLevel(shaped, row, column),
        reduction: stepsOf(shaped, choice.depth),
      };
      if (elementBits(workload.rhs.elementType) === 8 && column === REFUSED_COLUMNS)
        return 'the compiler makes invalid vectors';
      return illegality(shaped, c, row * column, target) ?? c;
    },
  });
}

/** Tiles of a subgroup, subgroups, steps along k, and the store stage. Tiles and steps are numbers of instructions. */
const COOPERATIVE_RECIPES: readonly Recipe[] = [
  [4, 4, 2, 2, 2, 0],
  [2, 2, 2, 2, 2, 0],
  [2, 4, 2, 2, 2, 0],
  [2, 2, 4, 4, 2, 0],
  [4, 4, 2, 2, 2, 1],
  [2, 2, 2, 2, 4, 0],
  [1, 2, 2, 2, 2, 0],
];

/** Null for another workload than a product with row-major operands, and without an instruction for its types. Pure. */
export function cooperativeSpace(
  workload: OperationWork,
  target: GpuTarget,
): SearchSpace<Configuration> | null {
  const shaped = productOf(workload);
  const { dimensions } = workload;
  // Instructions of a subgroup. SPIR-V has no others.
  const mma = mmasFor(workload, target).find(({ name }) => /^(?:NV_)?WMMA/.test(name));
  if (shaped === null || mma === undefined) return null;
  const { row: m, column: n, depth: k } = shaped.roles;
  const subgroupSize = target.subgroupSizes[0]!;
  return spaceOfChoices({
    kind: 'spirv-cooperative',
    knobs: {
      'tile.row': { values: powers(8), of: ({ thread }) => thread[m]! / mma.m, isInner: true },
      'tile.column': { values: powers(8), of: ({ thread }) => thread[n]! / mma.n, isInner: true },
      'subgroups.row': { values: powers(8), of: ({ workgroup, thread }) => workgroup[m]! / thread[m]! },
      'subgroups.column': { values: powers(8), of: ({ workgroup, thread }) => workgroup[n]! / thread[n]! },
      depth: { values: powers(8), of: ({ reduction }) => reduction[k]! / mma.k },
      storeStage: { values: [0, 1], of: ({ storeStage }) => storeStage },
    },
    starts: COOPERATIVE_RECIPES.map(([row, column, rows, columns, depth, storeStage]) => ({
      ...{ 'tile.row': row, 'tile.column': column, depth, storeStage },
      'subgroups.row': fitting(dimensions[m]!.size, row * mma.m, rows),
      'subgroups.column': fitting(dimensions[n]!.size, column * mma.n, columns),
    })),
    at(choice) {
      const [row, column] = [choice['tile.row'] * mma.m, choice['tile.column'] * mma.n];
      const c: CooperativeConfiguration = {
        ...{ version: 1, kind: 'spirv-cooperative', depth: 1, storeStage: choice.storeStage, subgroupSize },
        workgroup: matmulLevel(shaped, row * choice['subgroups.row'], column * choice['subgroups.column']),
        thread: matmulLevel(shaped, row, column),
        reduction: stepsOf(shaped, choice.depth * mma.k),
        native: matmulLevel(shaped, mma.m, mma.n).with(k, mma.k),
      };
      return illegality(shaped, c, (row * column) / subgroupSize, target) ?? c;
    },
  });
}

const LOAD_BITS = 128;

const loadOf = ({ lhs, rhs }: OperationWork): number =>
  LOAD_BITS / Math.min(elementBits(lhs.elementType), elementBits(rhs.elementType));

/** Bytes between the rows of a tile in shared memory. */
const ROW_PADDING = LOAD_BITS / 8;

type SharedConfiguration = CooperativeConfiguration | PromotedConfiguration;

/** Buffers of an operand's tile in shared memory. */
const buffersOf = ({ kind, depth, storeStage }: SharedConfiguration): number =>
  kind === 'spirv-promoted' && storeStage === 1 ? depth : depth + 1;

/** The broken rule; null if there is none. The compiler checks some of the rules for named operations only. */
function illegality(
  { workload, roles }: Shaped,
  c: SharedConfiguration,
  results: number,
  target: GpuTarget,
): string | null {
  const { dimensions, lhs, rhs, accumulator } = workload;
  if (results > MOST_RESULTS) return `more than ${MOST_RESULTS} results of a thread`;
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
