// Workloads for tests.
import type { Dimension, DimensionKind } from '../../src/workload/contraction/contraction.ts';
import type { Workload } from '../../src/workload/workload.ts';

type Types = readonly [lhs: string, rhs: string, accumulator: string];
const F32: Types = ['f32', 'f32', 'f32'];

/** Dimensions given as kind and size; the operands run over their kinds in canonical order. */
export function workload(sizes: Partial<Record<DimensionKind, number>>, types: Types = F32): Workload {
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

export const matmul = (m: number, n: number, k: number, types: Types = F32): Workload =>
  workload({ m, n, k }, types);
