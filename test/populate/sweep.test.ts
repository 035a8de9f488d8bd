import { parse } from 'mlir-parser-ts';
import { describe, expect, test } from 'vitest';
import { classify, isTunable } from '../../src/input/operation.ts';
import { contractionOf } from '../../src/populate/shape.ts';
import { shapeModule } from '../../src/populate/shape-module.ts';
import type { SweepText } from '../../src/populate/ranges.ts';
import { shapesOfSweep as shapes } from '../../src/populate/sweep.ts';
import { OPS } from '../../src/populate/shape.ts';
import { workloadKey } from '../../src/workload/workload.ts';

describe('a sweep', () => {
  test('has every combination, with both right-hand sides by default', () => {
    const all = shapes({ m: '64:1024:128', n: '32,64', k: '16', dtype: 'f32,f16' });
    expect(all).toHaveLength(8 * 2 * 1 * 2 * 2);
    expect(new Set(all.map((one) => JSON.stringify(one))).size).toBe(all.length);
    expect(shapes({ m: '1', n: '2', k: '3', rhsConstant: 'yes' })).toEqual([
      {
        op: 'matmul',
        batch: 1,
        m: 1,
        n: 2,
        k: 3,
        lhs: 'f32',
        rhs: 'f32',
        acc: 'f32',
        rhsConstant: true,
        count: 1,
      },
    ]);
  });

  test('takes several operations and all three types', () => {
    const all = shapes({
      ...{ op: 'batch_matmul,batch_matmul_transpose_b', batch: '2,4', dtype: 'i8xi8xi32,bf16' },
      ...{ m: '8', n: '8', k: '8', rhsConstant: 'no' },
    });
    expect(all).toHaveLength(8);
    expect(new Set(all.map(({ acc }) => acc))).toEqual(new Set(['i32', 'f32']));
  });

  test.each<[SweepText, string]>([
    [{ m: '1', n: '2' }, '--k is missing'],
    [{ m: '1', n: 'x', k: '1' }, '--n x: "x" is not a size'],
    [{ op: 'conv', m: '1', n: '1', k: '1' }, '--op: "conv" is not one of'],
    [{ batch: '2', m: '1', n: '1', k: '1' }, '--batch: matmul has no batch'],
    [{ dtype: 'f32,half', m: '1', n: '1', k: '1' }, '--dtype: the element type half'],
    [{ dtype: 'i8xi8', m: '1', n: '1', k: '1' }, '--dtype: i8xi8: write a type such as f16'],
    [{ rhsConstant: 'perhaps', m: '1', n: '1', k: '1' }, '--rhs-constant: "perhaps" is not one of'],
    [{ m: '1:2000', n: '1:2000', k: '1' }, 'the sweep has 7992002 shapes'],
  ])('%j is refused by the name of the option', (sweep, message) => {
    expect(() => shapes(sweep)).toThrow(message);
  });
});

test('the text of every shape is read as its workload', () => {
  const all = OPS.flatMap((op) =>
    shapes({
      op,
      m: '1,64',
      n: '1,48',
      k: '32',
      batch: op.startsWith('batch') ? '1,4' : '1',
      dtype: 'f32,f16,i8',
    }),
  );
  const text = new TextEncoder().encode(shapeModule(all));
  const operations = classify(parse(text).operations, {});
  expect(operations.map((one) => (isTunable(one) ? one.key : one.reason))).toEqual(
    all.map((shape) => workloadKey(contractionOf(shape))),
  );
});
