// The space of `CooperativeMatrixVectorize`: subgroups multiply with matrix instructions.
import type { SearchSpace } from '../../search/space.ts';
import type { OperationWork } from '../../workload/workload.ts';
import { spaceOfChoices } from '../choices.ts';
import type { Configuration } from '../configuration.ts';
import { mmasFor } from '../gpu/legality.ts';
import { matmulLevel, stepsOf } from '../gpu/roles.ts';
import type { GpuTarget } from '../gpu/target.ts';
import { powers } from '../gpu/tiles.ts';
import type { CooperativeConfiguration } from './configuration.ts';
import { MOST_RESULTS } from './legality.ts';
import { fitting, illegality, productOf } from './shared-tiles.ts';

/** Tiles of a subgroup, subgroups, and steps along k. Tiles and steps are numbers of instructions. The last value is the store stage. */
const RECIPES: readonly (readonly number[])[] = [
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
  const product = productOf(workload);
  const { dimensions } = workload;
  // Instructions of a subgroup. SPIR-V has no others.
  const mma = mmasFor(workload, target).find(({ name }) => /^(?:NV_)?WMMA/.test(name));
  if (product === null || mma === undefined) return null;
  const { row: m, column: n, depth: k } = product.roles;
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
    starts: RECIPES.map(([row, column, rows, columns, depth, storeStage]) => ({
      ...{ 'tile.row': row!, 'tile.column': column! },
      'subgroups.row': fitting(dimensions[m]!.size, row! * mma.m, rows!),
      'subgroups.column': fitting(dimensions[n]!.size, column! * mma.n, columns!),
      ...{ depth: depth!, storeStage: storeStage! },
    })),
    at(choice) {
      const [row, column] = [choice['tile.row'] * mma.m, choice['tile.column'] * mma.n];
      const c: CooperativeConfiguration = {
        ...{ version: 1, kind: 'spirv-cooperative', depth: 1, storeStage: choice.storeStage, subgroupSize },
        workgroup: matmulLevel(product, row * choice['subgroups.row'], column * choice['subgroups.column']),
        thread: matmulLevel(product, row, column),
        reduction: stepsOf(product, choice.depth * mma.k),
        native: matmulLevel(product, mma.m, mma.n).with(k, mma.k),
      };
      const results = (row * column) / subgroupSize;
      return results > MOST_RESULTS || illegality(product, c, target) !== null ? null : c;
    },
  });
}
