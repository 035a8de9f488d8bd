// Configurations as MLIR attributes. A tile is written for each loop of the operation; threads belong to its last three parallel
// loops, x to the innermost.
import type { Directive } from '../backend.ts';
import type { VulkanConfiguration } from './configuration.ts';

/** Both parts of a `compilation_info`, in the spelling that the compiler prints them in again. */
export interface Rendered {
  readonly lowering: string;
  readonly translation: string;
}

const PIPELINES: Readonly<Record<VulkanConfiguration['kind'], string>> = {
  'spirv-tile': 'BaseVectorize',
  'spirv-promote': 'MatmulPromoteVectorize',
  'spirv-matrix': 'CooperativeMatrixVectorize',
};

/** @param loops for each loop of the operation, outermost first, the index of the workload's dimension it runs over */
export function rendered(c: VulkanConfiguration, loops: readonly number[]): Rendered {
  const levels = levelsOf(c).map((tiles) => listed(withoutEnd(loops.map((d) => tiles[d]!))));
  const lowering = `#iree_codegen.lowering_config<tile_sizes = [${levels.join(', ')}]>`;
  const subgroup = c.kind === 'spirv-matrix' ? ` subgroup_size = ${c.subgroupSize}` : '';
  const stages =
    c.kind === 'spirv-tile'
      ? ''
      : `, {pipeline_depth = ${c.kind === 'spirv-matrix' ? 1 : c.depth} : i64, store_stage = ${c.storeStage} : i64}`;
  const translation =
    `#iree_codegen.translation_info<pipeline = #iree_gpu.spirv_pipeline<${PIPELINES[c.kind]}> ` +
    `workgroup_size = ${listed(workgroupSize(c, loops))}${subgroup}${stages}>`;
  return { lowering, translation };
}

export function directive(configuration: VulkanConfiguration, loops: readonly number[]): Directive {
  const { lowering, translation } = rendered(configuration, loops);
  return {
    attribute: 'compilation_info',
    value: `#iree_codegen.compilation_info<lowering_config = ${lowering}, translation_info = ${translation}>`,
  };
}

function levelsOf(c: VulkanConfiguration): readonly (readonly number[])[] {
  switch (c.kind) {
    case 'spirv-tile':
      return [c.workgroup, c.thread, c.reduction, ...(c.window === undefined ? [] : [c.window])];
    case 'spirv-promote':
      // One level says both.
      return [c.workgroup.map((tile, d) => tile + c.reduction[d]!)];
    case 'spirv-matrix':
      return [c.workgroup, c.subgroup, c.reduction, c.matrix];
  }
}

/** Threads along each parallel dimension; 0 along the others. */
export function threadsOf(c: VulkanConfiguration): readonly number[] {
  switch (c.kind) {
    case 'spirv-tile':
      return c.workgroup.map((tile, d) => (tile === 0 ? 0 : tile / c.thread[d]!));
    case 'spirv-promote':
      return c.threads;
    case 'spirv-matrix':
      return c.workgroup.map((tile, d) => (tile === 0 ? 0 : tile / c.subgroup[d]!));
  }
}

/** Threads along x, y and z. Of matrices each subgroup lies along x. */
function workgroupSize(c: VulkanConfiguration, loops: readonly number[]): readonly number[] {
  const threads = threadsOf(c);
  const [x = 1, y = 1, z = 1] = loops
    .filter((d) => c.workgroup[d]! > 0)
    .map((d) => threads[d]!)
    .toReversed();
  return [x * (c.kind === 'spirv-matrix' ? c.subgroupSize : 1), y, z];
}

const listed = (numbers: readonly number[]) => `[${numbers.join(', ')}]`;

/** The compiler leaves out what is 0 at the end. */
const withoutEnd = (tiles: readonly number[]) => tiles.slice(0, tiles.findLastIndex((tile) => tile > 0) + 1);
