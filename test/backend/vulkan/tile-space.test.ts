import { beforeAll, describe, expect, test } from 'vitest';
import { configurationKey, configurationText, loadBackend } from '../../../src/backend/index.ts';
import { threadsOf, type SpirvTileConfiguration } from '../../../src/backend/vulkan/configuration.ts';
import { illegality } from '../../../src/backend/vulkan/legality.ts';
import { rendered } from '../../../src/backend/vulkan/render.ts';
import { tileSpace } from '../../../src/backend/vulkan/tile-space.ts';
import { readGpuTarget } from '../../../src/backend/gpu/target.ts';
import { LLVMPIPE } from '../../support/vulkan-target.ts';
import { drawn } from '../drawn.ts';
import { convolution } from '../gpu/shapes.ts';
import { matmul } from '../../support/workloads.ts';

const gpu = readGpuTarget(Buffer.from(LLVMPIPE.gpu!))!;

beforeAll(() => loadBackend('vulkan-spirv'));

const TILE: SpirvTileConfiguration = {
  ...{ version: 1, kind: 'spirv-tile' },
  ...{ workgroup: [32, 128, 0], thread: [8, 4, 0], reduction: [0, 0, 4] },
};

describe.each([
  [512, 512, 512],
  [500, 500, 500],
  [127, 255, 511],
  [1, 1024, 1024],
  [7, 11, 13],
])('of %i x %i x %i', (m, n, k) => {
  const workload = matmul(m, n, k);
  const space = tileSpace(workload, gpu);
  test('every configuration leaves no remainder, can be stored, and leads back to its point', () => {
    const found = drawn(space, 3);
    for (const one of found as SpirvTileConfiguration[]) {
      expect(illegality(workload, one, gpu)).toBeNull();
      expect([m % one.workgroup[0]!, n % one.workgroup[1]!, k % one.reduction[2]!]).toEqual([0, 0, 0]);
    }
    expect(new Set(found.map(configurationKey)).size).toBe(new Set(found.map(configurationText)).size);
  });
});

describe('a configuration that the compiler accepts silently is illegal', () => {
  const shape = matmul(512, 512, 512);
  test.each([
    ['more threads than the GPU has', { workgroup: [512, 512, 0], thread: [8, 8, 0] }, /threads/],
    ['tiles that leave a remainder', { workgroup: [24, 128, 0] }, /24 does not divide m=512/],
    ['a sum that leaves one', { reduction: [0, 0, 5] }, /5 does not divide k=512/],
    ['threads that leave one', { thread: [5, 4, 0] }, /no whole number of threads/],
    ['a thread with too many results', { thread: [32, 8, 0] }, /results of a thread/],
  ])('%s', (_, change, reason) => {
    expect(illegality(shape, { ...TILE, ...change }, gpu)).toMatch(reason);
  });
  test('a legal configuration is legal', () => {
    expect(illegality(shape, TILE, gpu)).toBeNull();
  });
});

describe('a thread loads columns of an image at once', () => {
  /** Why threads of `tile` columns are illegal; a filter of three columns moves over rows of `width` elements. */
  const why = (tile: number, columns: number, width: number, isKnown = true) => {
    const own = convolution('nchw', 1, columns, [16, 8], 3, ['f32', 'f32', 'f32']);
    const shapes = [[8, columns + 2, width], [16, 8, 3, 3], [16], [16, columns, columns]];
    const dispatch = {
      ...{ text: '', loops: [], isStrided: true },
      arguments: shapes.map((shape) => ({ shape, elementType: 'f32', buffers: 1 })),
    };
    const configuration: SpirvTileConfiguration = {
      ...{ version: 1, kind: 'spirv-tile', window: [0, 1, 0, 0, 0, 0, 0] },
      ...{ workgroup: [1, 1, tile, 8, 0, 0, 0], thread: [1, 1, tile, 4, 0, 0, 0] },
      reduction: [0, 0, 0, 0, 1, 1, 4],
    };
    return illegality(isKnown ? { ...own, context: { digest: '', dispatch } } : own, configuration, gpu);
  };
  test.each([
    ['pairs out of even rows', 2, 16, 18, 'loads from an image are not aligned'],
    ['fours out of rows of a multiple of four', 4, 12, 16, 'not aligned'],
    ['fours out of longer rows', 4, 16, 22, 'not aligned'],
    ['fours out of other even rows', 4, 16, 18, null],
    ['pairs out of odd rows', 2, 18, 21, null],
    ['single columns', 1, 16, 18, null],
    ['triples', 3, 12, 14, null],
  ])('%s', (_, tile, columns, width, reason) => {
    if (reason === null) expect(why(tile, columns, width)).toBeNull();
    else expect(why(tile, columns, width)).toContain(reason);
  });
  test('fours out of an unknown buffer', () => {
    expect(why(4, 16, 18, false)).toContain('not aligned');
    expect(why(1, 16, 18, false)).toBeNull();
  });
});

test('threads lie along the loops of the operation, with x along the innermost loop', () => {
  expect(threadsOf(TILE)).toEqual([4, 32, 0]);
  expect(rendered(TILE, [0, 1, 2])).toEqual({
    lowering: '#iree_codegen.lowering_config<tile_sizes = [[32, 128], [8, 4], [0, 0, 4]]>',
    translation:
      '#iree_codegen.translation_info<pipeline = #iree_gpu.spirv_pipeline<BaseVectorize> workgroup_size = [32, 4, 1]>',
  });
  expect(rendered(TILE, [1, 0, 2]).translation).toContain('workgroup_size = [4, 32, 1]');
});
