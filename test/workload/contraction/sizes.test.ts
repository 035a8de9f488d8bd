import { parse } from 'mlir-parser-ts';
import { describe, expect, test } from 'vitest';
import {
  workloadOf,
  isDynamic,
  staticForms,
  workloadFlops,
  workloadKey,
  type OperationWork,
  atSizes,
} from '../../../src/workload/workload.ts';
import type { TunedSizes } from '../../../src/workload/sizes.ts';
import { matmul } from '../../support/workloads.ts';
import { operationWork } from '../../support/operation-work.ts';
import { isReason } from '../../../src/system/reason.ts';

function of(lhs: string, rhs: string, result: string): OperationWork {
  const { operations } = parse(
    Buffer.from(
      `%r = linalg.matmul ins(%x, %y : tensor<${lhs}>, tensor<${rhs}>) outs(%z : tensor<${result}>) -> tensor<${result}>`,
    ),
  );
  const form = workloadOf(operations[0]!);
  if (isReason(form)) throw new Error(form.reason);
  return form.workload;
}

function at(workload: OperationWork, sizes: TunedSizes): OperationWork {
  const form = atSizes(workload, sizes);
  if (isReason(form)) throw new Error(form.reason);
  return operationWork(form);
}

describe('a dynamic dimension', () => {
  const dynamic = of('?x64xf32', '64x32xf32', '?x32xf32');

  test('has no size without a setting', () => {
    expect(isDynamic(dynamic)).toBe(true);
    expect(dynamic.dimensions[0]).toEqual({ kind: 'm', size: 0, sizes: [] });
  });

  test('is tuned at the given sizes, which are in the key', () => {
    const workload = at(dynamic, { m: [1, 16] });
    expect(workload.dimensions[0]).toEqual({ kind: 'm', size: 16, sizes: [1, 16] });
    expect(workloadKey(workload)).toBe('contraction m=?(1,16) n=32 k=64 f32,f32->f32 mk,kn->mn');
    expect(workloadFlops(workload)).toBe(2 * 16 * 32 * 64);
  });

  test('has a static form for each of its sizes', () => {
    const forms = staticForms(at(dynamic, { m: [1, 16] }));
    expect(forms.map(workloadKey)).toEqual([
      'contraction m=1 n=32 k=64 f32,f32->f32 mk,kn->mn',
      'contraction m=16 n=32 k=64 f32,f32->f32 mk,kn->mn',
    ]);
    expect(staticForms(matmul(4, 5, 6))).toEqual([matmul(4, 5, 6)]);
  });

  test('of several kinds is tuned at every combination', () => {
    const both = of('?x64xf32', '64x?xf32', '?x?xf32');
    const forms = staticForms(at(both, { m: [1, 16], n: [2, 3] }));
    expect(forms.map(({ dimensions }) => dimensions.map(({ size }) => size))).toEqual([
      [1, 2, 64],
      [1, 3, 64],
      [16, 2, 64],
      [16, 3, 64],
    ]);
  });

  test('without sizes is skipped, with the flag to set', () => {
    expect(atSizes(dynamic, { n: [4] })).toEqual({
      code: 'sizes-missing',
      reason: expect.stringContaining('--iree-tuned-dim="m=1,16,128"') as string,
    });
  });

  test('with too many combinations is skipped', () => {
    const list = Array.from({ length: 17 }, (_, i) => i + 1);
    expect(atSizes(dynamic, { m: list })).toEqual({
      code: 'too-many-sizes',
      reason: expect.stringContaining('17 combinations') as string,
    });
  });

  test('leaves static workloads as they are', () => {
    expect(atSizes(matmul(4, 5, 6), { m: [1] })).toEqual(matmul(4, 5, 6));
  });
});
