// Workloads for tests.
import { parse } from 'mlir-parser-ts';
import type { DimensionKind } from '../../src/workload/sizes.ts';
import type { Dimension } from '../../src/workload/contraction/contraction.ts';
import type { DispatchWork } from '../../src/workload/dispatch/dispatch-work.ts';
import { rootFormOf, type OperationWork } from '../../src/workload/workload.ts';

type Types = readonly [lhs: string, rhs: string, accumulator: string];
const F32: Types = ['f32', 'f32', 'f32'];

/** A contraction with these sizes by kind of dimension. The operands have their dimensions in canonical order. */
export function workload(sizes: Partial<Record<DimensionKind, number>>, types: Types = F32): OperationWork {
  const dimensions: Dimension[] = (['batch', 'm', 'n', 'k'] as const).flatMap((kind) => {
    const size = sizes[kind];
    return size === undefined ? [] : [{ kind, size }];
  });
  const over = (...kinds: DimensionKind[]) =>
    kinds.map((kind) => dimensions.findIndex((d) => d.kind === kind)).filter((i) => i >= 0);
  return {
    kind: 'contraction',
    dimensions,
    lhs: { elementType: types[0], dimensions: over('batch', 'm', 'k') },
    rhs: { elementType: types[1], dimensions: over('batch', 'k', 'n') },
    accumulator: { elementType: types[2], dimensions: over('batch', 'm', 'n') },
    constantRhs: false,
  };
}

export const matmul = (m: number, n: number, k: number, types: Types = F32): OperationWork =>
  workload({ m, n, k }, types);

/** The same work with these sizes of its first dimension, smallest first. */
export const withSizes = (work: OperationWork, ...sizes: readonly number[]): OperationWork => ({
  ...work,
  dimensions: work.dimensions.map((one, d) => (d === 0 ? { ...one, size: sizes.at(-1)!, sizes } : one)),
});

/** The dispatch of a softmax over rows. */
export const softmax = (rows: number, columns: number): DispatchWork => ({
  ...{ kind: 'dispatch', digest: '0123456789abcdef', name: 'softmax', pipeline: 'DoubleTilingExpert' },
  dimensions: [
    { kind: 'm', size: 6 },
    { kind: 'm', size: rows },
    { kind: 'k', size: columns },
  ],
  parts: [
    { name: 'linalg.generic', loops: [0, 1, 2], reduced: [2] },
    { name: 'linalg.generic', loops: [0, 1, 2], reduced: [] },
  ],
  ...{ elementType: 'f32', lane: 2, bytes: 0 },
});

/** A 3x3 convolution of a square image with f32 elements. @param inputs number of input channels; null for a depthwise convolution */
export function convolution(image: number, outputs: number, inputs: number | null): OperationWork {
  const map = (count: number) => Array.from({ length: count }, (_, i) => `d${i}`).join(', ');
  const [maps, reduced, filter] =
    inputs === null
      ? [['d0 + d3, d1 + d4, d2', 'd3, d4, d2', 'd0, d1, d2'], 2, `3x3x${outputs}`]
      : [['d0 + d3, d1 + d4, d5', 'd3, d4, d5, d2', 'd0, d1, d2'], 3, `3x3x${inputs}x${outputs}`];
  const loops = map(3 + reduced);
  const iterators = Array.from({ length: 3 + reduced }, (_, i) => (i < 3 ? '"parallel"' : '"reduction"'));
  const result = `tensor<${image}x${image}x${outputs}xf32>`;
  const text = `%2 = linalg.generic {indexing_maps = [${maps.map((one) => `affine_map<(${loops}) -> (${one})>`).join(', ')}], iterator_types = [${iterators.join(', ')}]} ins(%0, %1 : tensor<${image + 2}x${image + 2}x${inputs ?? outputs}xf32>, tensor<${filter}xf32>) outs(%c : ${result}) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %7 = arith.mulf %in, %in_0 : f32
      %8 = arith.addf %out, %7 : f32
      linalg.yield %8 : f32
    } -> ${result}`;
  return rootFormOf(parse(Buffer.from(text)).operations[0]!)!.workload;
}
