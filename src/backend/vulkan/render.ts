// Configurations as MLIR attributes, with a tile for each loop of the operation. Threads belong to the last three parallel loops, x to the
// innermost.
import type { Rendered } from '../rendered.ts';
import { threadsOf, type VulkanConfiguration } from './configuration.ts';

const PIPELINES: Readonly<Record<VulkanConfiguration['kind'], string>> = {
  'spirv-tile': 'BaseVectorize',
  'spirv-promoted': 'MatmulPromoteVectorize',
  'spirv-cooperative': 'CooperativeMatrixVectorize',
};

export function rendered(c: VulkanConfiguration, loops: readonly number[]): Rendered {
  const levels = levelsOf(c).map((tiles) => listed(withoutEnd(loops.map((d) => tiles[d]!))));
  const lowering = `#iree_codegen.lowering_config<tile_sizes = [${levels.join(', ')}]>`;
  const options =
    c.kind === 'spirv-tile'
      ? ''
      : `${c.kind === 'spirv-cooperative' ? ` subgroup_size = ${c.subgroupSize}` : ''}, {pipeline_depth = ${c.depth} : i64, store_stage = ${c.storeStage} : i64}`;
  const translation =
    `#iree_codegen.translation_info<pipeline = #iree_gpu.spirv_pipeline<${PIPELINES[c.kind]}> ` +
    `workgroup_size = ${listed(workgroupSize(c, loops))}${options}>`;
  return { lowering, translation };
}

/** The tiles of each level, in the order of the pipeline. */
function levelsOf(c: VulkanConfiguration): readonly (readonly number[])[] {
  const { workgroup, thread, reduction } = c;
  switch (c.kind) {
    case 'spirv-tile':
      return [workgroup, thread, reduction, ...(c.window === undefined ? [] : [c.window])];
    case 'spirv-promoted':
      return [workgroup.map((tile, d) => tile || reduction[d]!)];
    case 'spirv-cooperative':
      return [workgroup, thread, reduction, c.native];
  }
}

function workgroupSize(c: VulkanConfiguration, loops: readonly number[]): readonly number[] {
  const threads = threadsOf(c);
  const [x = 1, y = 1, z = 1] = loops
    .filter((d) => c.workgroup[d]! > 0)
    .map((d) => threads[d]!)
    .toReversed();
  return [x, y, z];
}

const listed = (numbers: readonly number[]) => `[${numbers.join(', ')}]`;

/** The compiler omits zeros at the end. */
const withoutEnd = (tiles: readonly number[]) => tiles.slice(0, tiles.findLastIndex((tile) => tile > 0) + 1);
