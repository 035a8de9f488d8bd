// The space of `MatmulPromoteVectorize`: each thread computes a tile, and operands go through shared memory.
import type { SearchSpace } from '../../search/space.ts';
import { elementBits } from '../../workload/element-type.ts';
import type { OperationWork } from '../../workload/workload.ts';
import { spaceOfChoices } from '../choices.ts';
import type { Configuration } from '../configuration.ts';
import { matmulLevel, stepsOf } from '../gpu/roles.ts';
import type { GpuTarget } from '../gpu/target.ts';
import { powers } from '../gpu/tiles.ts';
import type { PromotedConfiguration } from './configuration.ts';
import { MOST_RESULTS } from './legality.ts';
import { fitting, illegality, loadOf, productOf } from './shared-tiles.ts';

/** Columns of 8 bits for which the compiler makes invalid vectors with most steps along k. */
const REFUSED_COLUMNS = 8;

/** Pipeline depths and store stages. */
const BUFFERS = [
  [1, 1],
  [2, 0],
  [1, 0],
] as const;

/** Tiles of a thread, threads, steps along k, and an index into `BUFFERS`. */
const RECIPES: readonly (readonly number[])[] = [
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
  const product = productOf(workload);
  if (product === null) return null;
  const { row: m, column: n, depth: k } = product.roles;
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
    starts: RECIPES.map(([row, column, rows, columns, depth, buffers]) => ({
      ...{ 'tile.row': row!, 'tile.column': column! },
      'threads.row': fitting(dimensions[m]!.size, row!, rows!),
      'threads.column': fitting(dimensions[n]!.size, column!, columns!),
      ...{ depth: depth!, buffers: buffers! },
    })),
    at(choice) {
      const [row, column] = [choice['tile.row'], choice['tile.column']];
      const [depth, storeStage] = BUFFERS[choice.buffers]!;
      const c: PromotedConfiguration = {
        ...{ version: 1, kind: 'spirv-promoted', depth, storeStage },
        workgroup: matmulLevel(product, row * choice['threads.row'], column * choice['threads.column']),
        thread: matmulLevel(product, row, column),
        reduction: stepsOf(product, choice.depth),
      };
      const isRefused = elementBits(workload.rhs.elementType) === 8 && column === REFUSED_COLUMNS;
      return row * column > MOST_RESULTS || isRefused || illegality(product, c, target) !== null ? null : c;
    },
  });
}
