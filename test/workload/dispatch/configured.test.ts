// Reads a configured dispatch, and replaces its tiles.
import { expect, test } from 'vitest';
import { readConfigured, withLevels } from '../../../src/workload/dispatch/configured.ts';
import {
  dispatchAtSizes,
  dispatchKey,
  type DispatchWork,
} from '../../../src/workload/dispatch/dispatch-work.ts';
import { dispatchWork } from '../../../src/workload/dispatch/from-configured.ts';
import { isDispatchWork } from '../../../src/workload/dispatch/index.ts';
import type { DispatchTileConfiguration } from '../../../src/backend/llvm-cpu/configuration.ts';
import { reconfigured } from '../../../src/backend/llvm-cpu/render.ts';
import { because } from '../../../src/system/reason.ts';

const ROW = 'affine_map<(d0, d1, d2) -> (d0, d1)>';
const ALL = 'affine_map<(d0, d1, d2) -> (d0, d1, d2)>';
const config = (levels: string) => `lowering_config = #iree_cpu.lowering_config<${levels}>`;
const REDUCED = 'iterator_types = ["parallel", "parallel", "reduction"]';

/** The operations of a softmax as IREE 3.13 configures them. */
const softmax = (columns = 1500) => `hal.executable public @main_dispatch_0 {
  func.func @main_dispatch_0_softmax_6x1500x${columns}xf32_dispatch_tensor_store() attributes {translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>} {
    %2 = iree_codegen.load_from_buffer %0 : memref<6x1500x${columns}xf32> -> tensor<6x1500x${columns}xf32>
    %3 = tensor.empty() : tensor<6x1500x${columns}xf32>
    %4 = tensor.empty() : tensor<6x1500xf32>
    %5 = linalg.fill {${config('vector_common_parallel = [1, 8]')}} ins(%cst_0 : f32) outs(%4 : tensor<6x1500xf32>) -> tensor<6x1500xf32>
    %6 = linalg.generic {indexing_maps = [${ALL}, ${ROW}], ${REDUCED}} ins(%2 : tensor<6x1500x${columns}xf32>) outs(%5 : tensor<6x1500xf32>) attrs =  {${config('vector_common_parallel = [1, 8, 0], vector_reduction = [0, 0, 16]')}} {
    %7 = linalg.fill {${config('vector_common_parallel = [1, 8]')}} ins(%cst : f32) outs(%4 : tensor<6x1500xf32>) -> tensor<6x1500xf32>
    %8 = linalg.generic {indexing_maps = [${ALL}, ${ROW}, ${ROW}], ${REDUCED}} ins(%2, %6 : tensor<6x1500x${columns}xf32>, tensor<6x1500xf32>) outs(%7 : tensor<6x1500xf32>) attrs =  {${config('distribution = [6, 30, 0], vector_common_parallel = [1, 8, 0], vector_reduction = [0, 0, 16]')}} {
    %9 = linalg.generic {indexing_maps = [${ALL}, ${ROW}, ${ROW}, ${ALL}], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2, %6, %8 : tensor<6x1500x${columns}xf32>, tensor<6x1500xf32>, tensor<6x1500xf32>) outs(%3 : tensor<6x1500x${columns}xf32>) attrs =  {${config('vector_common_parallel = [1, 8, 0], vector_inner_parallel = [0, 0, 16]')}} {
`;

const ATTENTION = `func.func @main_dispatch_0_attention_12x128x64x128x64() attributes {translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<LinalgExtTileAndVectorize>>} {
    %9 = linalg.fill {${config('vector_common_parallel = [1, 4, 16]')}} ins(%cst_1 : f32) outs(%7 : tensor<12x128x64xf32>) -> tensor<12x128x64xf32>
    %10 = linalg.fill {${config('vector_common_parallel = [1, 4]')}} ins(%cst_0 : f32) outs(%8 : tensor<12x128xf32>) -> tensor<12x128xf32>
    %11 = linalg.fill {${config('vector_common_parallel = [1, 4]')}} ins(%cst_1 : f32) outs(%8 : tensor<12x128xf32>) -> tensor<12x128xf32>
    %12:3 = iree_linalg_ext.online_attention <indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3, d4) -> ()>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1)>]> {${config('distribution = [1, 64, 64, 0, 0], vector_common_parallel = [1, 4, 16, 0, 0], vector_reduction = [0, 0, 0, 4, 0]')}} ins(%4, %5, %6, %cst_2 : tensor<12x128x64xf32>, tensor<12x128x64xf32>, tensor<12x128x64xf32>, f32) outs(%9, %10, %11 : tensor<12x128x64xf32>, tensor<12x128xf32>, tensor<12x128xf32>) {
    %13 = linalg.generic {indexing_maps = [${ROW}, ${ALL}, ${ALL}], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12#2, %12#0 : tensor<12x128xf32>, tensor<12x128x64xf32>) outs(%7 : tensor<12x128x64xf32>) attrs =  {${config('vector_common_parallel = [1, 4, 16]')}} {
`;

const POOLING = `func.func @main_dispatch_0_pooling() attributes {translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<ConvTileAndDecomposeExpert>>} {
    %6 = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, ${config('distribution = [1, 64, 56, 56, 0, 0], vector_common_parallel = [1, 1, 1, 8, 0, 0], vector_reduction = [0, 0, 0, 0, 3, 3]')}, strides = dense<2> : vector<2xi64>} ins(%4, %5 : tensor<1x64x114x114xf32>, tensor<3x3xf32>) outs(%3 : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
`;

test('all operations of a softmax run along the same three dimensions', () => {
  const found = readConfigured(softmax())!;
  expect(found).toMatchObject({
    function: 'main_dispatch_0_softmax_6x1500x1500xf32_dispatch_tensor_store',
    pipeline: 'DoubleTilingExpert',
    sizes: [6, 1500, 1500],
    root: 3,
    lane: 2,
  });
  expect(found.parts.map(({ loops }) => loops)).toEqual([
    [0, 1],
    [0, 1, 2],
    [0, 1],
    [0, 1, 2],
    [0, 1, 2],
  ]);
});

test('the reductions of an attention are the keys and the elements of a key', () => {
  const { sizes, parts, root, lane } = readConfigured(ATTENTION)!;
  expect(sizes).toEqual([12, 128, 64, 128, 64]);
  expect(lane).toBe(2);
  expect(parts[root]!.reduced).toEqual([3, 4]);
  expect(parts.map(({ loops }) => loops.join(''))).toEqual(['012', '01', '01', '01234', '012']);
});

test('the reductions of a pooling are its window', () => {
  const { sizes, parts } = readConfigured(POOLING)!;
  expect(sizes).toEqual([1, 64, 56, 56, 3, 3]);
  expect(parts[0]!.reduced).toEqual([4, 5]);
});

test('the loops of a store that maps its elements are those of what it stores', () => {
  const text = `func.func @main_dispatch_0_conv() attributes {translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>} {
    %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2, d0)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%0 : tensor<1x2048x32xf32>) outs(%5 : tensor<32x1x2048xf32>) attrs = {${config('distribution = [32, 1, 32], vector_common_parallel = [8, 1, 1]')}} {
    } -> tensor<32x1x2048xf32>
    %3 = iree_linalg_ext.map_store {${config('vector_common_parallel = [8, 1, 1]')}} %1 into %2 {
    ^bb0(%arg0: index, %arg1: index, %arg2: index):
      %4 = affine.linearize_index disjoint [%arg1, %arg2] by (1, 2048) : index
      iree_linalg_ext.yield %arg0, %4, %true : index, index, i1
    } : tensor<32x1x2048xf32> into tensor<32x2048xf32> -> tensor<32x2048xf32>
`;
  const { sizes, parts, lane } = readConfigured(text)!;
  expect(sizes).toEqual([32, 1, 2048]);
  expect(parts.map(({ name, loops }) => [name, loops.join('')])).toEqual([
    ['linalg.generic', '012'],
    ['iree_linalg_ext.map_store', '012'],
  ]);
  expect(lane).toBe(2);
});

test('two loops of one operation stay separate dimensions', () => {
  const own = `func.func @f() attributes {translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>} {
    %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%0, %0 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%2 : tensor<64x64xf32>) attrs = {${config('distribution = [64, 64], vector_common_parallel = [8, 16]')}} {
`;
  expect(readConfigured(own)!.sizes).toEqual([64, 64]);
});

test.each([
  ['a level that is not known', softmax().replace('vector_inner_parallel', 'inner_tiles')],
  ['scalable vectors', softmax().replace('[0, 0, 16]', '[0, 0, [16]]')],
  ['an operation whose loops are not known', softmax().replace('linalg.fill', 'linalg.pack')],
  ['nothing that decides about workgroups', softmax().replace('distribution = [6, 30, 0], ', '')],
  ['no function', ''],
])('%s is not understood', (_, text) => {
  expect(readConfigured(text)).toBeNull();
});

test('the same levels give the same text', () => {
  const text = softmax();
  const found = readConfigured(text)!;
  expect(withLevels(text, found, ({ levels }) => levels)).toBe(text);
});

const tiles = (distribution: readonly number[], vector: readonly number[]): DispatchTileConfiguration => ({
  ...{ version: 1, kind: 'dispatch-tile', distribution, vector },
});

const PLACE = { executable: 'main_dispatch_0', digest: '0123456789abcdef', bytes: 1 };

test('tiles of a dispatch are those of all of its operations', () => {
  const work = dispatchWork(softmax(), PLACE) as DispatchWork;
  expect(work.name).toBe('softmax_6x1500x1500xf32');
  expect(isDispatchWork(JSON.parse(JSON.stringify(work)) as object)).toBe(true);
  const configuration = tiles([1, 60, 0], [1, 4, 60]);
  const text = reconfigured(softmax(), work, configuration)!;
  expect(text.match(/(?<=lowering_config<)[^>]*/g)).toEqual([
    'vector_common_parallel = [1, 4]',
    'vector_common_parallel = [1, 4, 0], vector_reduction = [0, 0, 60]',
    'vector_common_parallel = [1, 4]',
    'distribution = [1, 60, 0], vector_common_parallel = [1, 4, 0], vector_reduction = [0, 0, 60]',
    'vector_common_parallel = [1, 4, 0], vector_inner_parallel = [0, 0, 60]',
  ]);
  // The compiler's dump identifies the configuration by this text.
  expect(reconfigured(text, work, configuration)).toBe(text);
  expect(reconfigured(softmax(1504), work, configuration)).toBeNull();
});

test('an attention never gets tiles along the elements of a key', () => {
  const work = dispatchWork(ATTENTION, PLACE) as DispatchWork;
  const along = (multiplied: number) => tiles([1, 64, 64, 0, 0], [1, 8, 64, 8, multiplied]);
  // Here the keys are dimension 3, and the elements of a key dimension 4.
  expect(reconfigured(ATTENTION, work, along(64))).toContain('vector_reduction = [0, 0, 0, 8, 64]');
  expect(reconfigured(ATTENTION, work, along(0))).not.toBeNull();
  expect(reconfigured(ATTENTION, work, along(8))).toBeNull();
});

test('a dispatch with little work is skipped', () => {
  expect(dispatchWork(softmax().replaceAll('1500', '4'), PLACE)).toEqual({
    code: 'too-little-work',
    reason: 'it does too little to matter',
  });
});

test('the key of a dynamic dispatch has the sizes at which its program is run', () => {
  const text = softmax().replaceAll('<6x1500x1500', '<6x?x?').replaceAll('<6x1500xf32>', '<6x?xf32>');
  const open = dispatchWork(text, PLACE) as DispatchWork;
  expect(open.dimensions.map(({ sizes }) => sizes)).toEqual([undefined, [], []]);
  expect(isDispatchWork(open)).toBe(false);
  expect(dispatchAtSizes(open, {})).toEqual(
    because(
      'sizes-missing',
      'dynamic dimensions without sizes to tune at: give some, such as --iree-tuned-dim="m=1,16,128"',
    ),
  );
  expect(dispatchAtSizes(open, { m: [1, 2] })).toEqual(because('too-little-work'));
  const work = dispatchAtSizes(open, { m: [1, 128], batch: [4] }) as DispatchWork;
  expect(dispatchKey(work)).toMatch(/^dispatch \S+ in=0123456789abcdef at=1,4,128$/);
  expect(isDispatchWork(JSON.parse(JSON.stringify(work)) as object)).toBe(true);
  const configuration = tiles([1, 32, 0], [1, 4, 32]);
  expect(reconfigured(text, work, configuration)).toContain(
    'distribution = [1, 32, 0], vector_common_parallel = [1, 4, 0], vector_reduction = [0, 0, 32]',
  );
  expect(reconfigured(softmax(), work, configuration)).toBeNull();
});

test('an attention with heads of dynamic size is skipped, because these cannot be tiled', () => {
  expect(dispatchWork(ATTENTION.replaceAll('x64xf32>', 'x?xf32>'), PLACE)).toEqual({
    code: 'dispatch-unsupported',
    reason: expect.stringMatching(/dynamic dimension, which has to be whole/) as string,
  });
});
