// The spaces of GPUs with matrix instructions.
import { beforeAll, describe, expect, test } from 'vitest';
import { loadBackend } from '../../../src/backend/index.ts';
import { SCHEMA, type VulkanConfiguration } from '../../../src/backend/vulkan/configuration.ts';
import { vulkan } from '../../../src/backend/vulkan/index.ts';
import { rendered } from '../../../src/backend/vulkan/render.ts';
import { drawn } from '../drawn.ts';
import { SHAPES } from '../gpu/shapes.ts';
import { gpuOptions } from '../gpu/targets.ts';

beforeAll(() => loadBackend('vulkan-spirv'));

const kindsOf = (target: string, shape: string) => {
  const workload = SHAPES[shape]!;
  const space = vulkan.tuning(workload).space(gpuOptions(target));
  const found = drawn(space, workload.dimensions.length, 2000);
  const kinds = [...new Set(found.map(({ kind }) => kind))].sort();
  expect(vulkan.tuning(workload).families({ wholeProgram: false })).toEqual(expect.arrayContaining(kinds));
  return kinds;
};

describe('every configuration can be stored, and leads back to its point', () => {
  test.each([
    ['ampere', 'matmul f16', ['spirv-cooperative']],
    ['rdna3', 'matmul i8', ['spirv-cooperative']],
    ['ampere', 'matmul i8', ['spirv-promoted', 'spirv-tile']],
    ['ampere', 'batch matmul f32', ['spirv-promoted', 'spirv-tile']],
    ['rdna3', 'matmul f16 odd', ['spirv-tile']],
    ['llvmpipe', 'matmul f32', ['spirv-tile']],
    ['ampere', 'nhwc f16', ['spirv-tile']],
  ])('%s, %s', (target, shape, kinds) => {
    expect(kindsOf(target, shape)).toEqual(kinds);
  });
});

test('configurations of all pipelines have the same columns', () => {
  const workload = SHAPES['matmul f32']!;
  const space = vulkan.tuning(workload).space(gpuOptions('ampere'));
  const columns = space.starts.map((point) => {
    const configuration = space.configurationAt(point) as VulkanConfiguration;
    return Object.keys(SCHEMA.columns(workload, configuration)).join();
  });
  expect(new Set(columns).size).toBe(1);
});

test('products in bf16 are not tuned: the compiler has no vectors of them', () => {
  const tuning = vulkan.tuning(SHAPES['matmul bf16']!);
  expect([tuning.families({ wholeProgram: false }), tuning.unsupported]).toEqual([[], 'bf16']);
});

test('a product through shared memory has one level of tiles', () => {
  const configuration: VulkanConfiguration = {
    ...{ version: 1, kind: 'spirv-promoted', depth: 1, storeStage: 1 },
    ...{ workgroup: [64, 128, 0], thread: [8, 4, 0], reduction: [0, 0, 16] },
  };
  expect(rendered(configuration, [0, 1, 2])).toEqual({
    lowering: '#iree_codegen.lowering_config<tile_sizes = [[64, 128, 16]]>',
    translation:
      '#iree_codegen.translation_info<pipeline = #iree_gpu.spirv_pipeline<MatmulPromoteVectorize> workgroup_size = [32, 8, 1], {pipeline_depth = 1 : i64, store_stage = 1 : i64}>',
  });
});

test('a product of subgroups has their size, and a level for the instruction', () => {
  const configuration: VulkanConfiguration = {
    ...{ version: 1, kind: 'spirv-cooperative', depth: 1, storeStage: 0, subgroupSize: 32 },
    ...{ workgroup: [128, 128, 0], thread: [64, 64, 0], reduction: [0, 0, 32], native: [16, 16, 16] },
  };
  expect(rendered(configuration, [0, 1, 2])).toEqual({
    lowering: '#iree_codegen.lowering_config<tile_sizes = [[128, 128], [64, 64], [0, 0, 32], [16, 16, 16]]>',
    translation:
      '#iree_codegen.translation_info<pipeline = #iree_gpu.spirv_pipeline<CooperativeMatrixVectorize> workgroup_size = [64, 2, 1] subgroup_size = 32, {pipeline_depth = 1 : i64, store_stage = 0 : i64}>',
  });
});
