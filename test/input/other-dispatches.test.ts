// Dispatches that are tuned as a whole.
import { expect, test } from 'vitest';
import { dispatchDigests, otherDispatches } from '../../src/input/dispatches.ts';
import { readFlow } from '../../src/input/flow.ts';
import { dispatchOf } from '../../src/workload/workload.ts';
import { because } from '../../src/system/reason.ts';

const TENSOR = 'tensor<64x1000xf32>';

/** An executable after `flow`. @param work of its function, which identifies the dispatch */
const flowOf = (name: string, work: string) => `  flow.executable private @${name} {
    flow.executable.export public @${name}_reduction_64x1000_f32 workgroups() -> (index, index, index) {
      %x, %y, %z = iree_tensor_ext.dispatch.workgroup_count_from_slice()
      flow.return %x, %y, %z : index, index, index
    }
    builtin.module {
      func.func @${name}_reduction_64x1000_f32(%arg0: !iree_tensor_ext.dispatch.tensor<readonly:${TENSOR}>, %arg1: !iree_tensor_ext.dispatch.tensor<writeonly:tensor<64xf32>>) {
        ${work}
        return
      }
    }
  }
`;

const configuredOf = (name: string, pipeline = 'DoubleTilingExpert') => `hal.executable public @${name} {
  func.func @${name}_reduction_64x1000_f32() attributes {translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<${pipeline}>>} {
    %5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%2 : ${TENSOR}) outs(%4 : tensor<64xf32>) attrs =  {lowering_config = #iree_cpu.lowering_config<distribution = [8, 0], vector_common_parallel = [8, 0], vector_reduction = [0, 16]>} {
`;

const names = ['main_dispatch_0', 'main_dispatch_1', 'main_dispatch_2'];
const flow = readFlow(
  Buffer.from(names.map((name, i) => flowOf(name, i === 2 ? '// the least' : '// the most')).join('')),
);
const configured = new Map(names.map((name) => [name, Buffer.from(configuredOf(name))]));

test('equal computations are one workload of several executables', () => {
  const found = otherDispatches(flow, configured, new Set());
  expect(found.map(({ executables }) => executables)).toEqual([names.slice(0, 2), names.slice(2)]);
  expect(found[0]!.generated!.workload).toMatchObject({
    name: 'reduction_64x1000_f32',
    dimensions: [
      { kind: 'm', size: 64 },
      { kind: 'k', size: 1000 },
    ],
    bytes: 4 * (64 * 1000 + 64),
  });
  // Builds with other executables find the workload by the digest.
  const digests = new Map(dispatchDigests(flow));
  expect(found.map(({ generated }) => dispatchOf(generated!.workload))).toEqual([
    digests.get(names[0]!),
    digests.get(names[2]!),
  ]);
});

test('executables with a tunable operation, or with unknown operations, are left out', () => {
  const some = otherDispatches(flow, configured, new Set(names.slice(1)));
  expect(some.map(({ executables }) => executables)).toEqual([names.slice(0, 1)]);
  const others = new Map(
    names.map((name) => [name, Buffer.from(configuredOf(name, 'ConvTileAndDecomposeExpert'))]),
  );
  expect(otherDispatches(flow, others, new Set())).toEqual([]);
  expect(otherDispatches(flow, new Map(), new Set())).toEqual([]);
});

test('a softmax that is not tuned is reported with the reason', () => {
  const name = 'main_dispatch_0';
  const small = configuredOf(name)
    .replaceAll('reduction_64x1000_f32', 'softmax_64x10xf32')
    .replaceAll('64x1000', '64x10');
  const found = otherDispatches(flow, new Map([[name, Buffer.from(small)]]), new Set());
  expect(found).toMatchObject([
    { name: 'softmax_64x10xf32', skipped: because('too-little-work'), generated: null, executables: [name] },
  ]);
});
