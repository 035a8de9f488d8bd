import { parse } from 'mlir-parser-ts';
import { describe, expect, test } from 'vitest';
import { classify, isTunable } from '../../src/input/operation.ts';
import { contractionOf, CONTRACTIONS, shapeModule, shapeName } from '../../src/populate/shape.ts';
import { parseSizeList, shapesOf, type SweepText } from '../../src/populate/sweep.ts';
import { workloadKey } from '../../src/workload/workload.ts';

test('sizes are numbers, ranges without their end, and lists of both', () => {
  expect(parseSizeList('64:1024:128')).toEqual([64, 192, 320, 448, 576, 704, 832, 960]);
  expect(parseSizeList('64:1025:320')).toEqual([64, 384, 704, 1024]);
  expect(parseSizeList('3:6')).toEqual([3, 4, 5]);
  // In the order of the text, each once.
  expect(parseSizeList('512, 256,512')).toEqual([512, 256]);
  expect(parseSizeList('1,64:193:64')).toEqual([1, 64, 128, 192]);
});

describe('a sweep', () => {
  test('has every combination, with both right-hand sides by default', () => {
    const all = shapesOf({ m: '64:1024:128', n: '32,64', k: '16', dtype: 'f32,f16' });
    expect(all).toHaveLength(8 * 2 * 1 * 2 * 2);
    expect(new Set(all.map((one) => JSON.stringify(one))).size).toBe(all.length);
    expect(shapesOf({ m: '1', n: '2', k: '3', rhsConstant: 'yes' })).toEqual([
      {
        ...{ op: 'matmul', batch: [1], m: 1, n: 2, k: 3, lhs: 'f32', rhs: 'f32', acc: 'f32' },
        ...{ rhsConstant: true, count: 1, source: 'sweep' },
      },
    ]);
  });

  test('takes several operations and all three types', () => {
    const all = shapesOf({
      ...{ op: 'batch_matmul,batch_matmul_transpose_b', batch: '2,4', dtype: 'i8xi8xi32,bf16' },
      ...{ m: '8', n: '8', k: '8', rhsConstant: 'no' },
    });
    expect(all).toHaveLength(8);
    expect(new Set(all.map(({ acc }) => acc))).toEqual(new Set(['i32', 'f32']));
  });

  test('keeps the dimensions of a softmax separate, and can have contractions beside attentions', () => {
    const rows = shapesOf({ op: 'softmax', batch: '12,1x16', m: '197:199', n: '333' });
    expect(rows.map(shapeName)).toEqual([
      ...['softmax_12x197x333_f32', 'softmax_12x198x333_f32'],
      ...['softmax_1x16x197x333_f32', 'softmax_1x16x198x333_f32'],
    ]);
    const mixed = shapesOf({ op: 'attention,batch_matmul', batch: '12', m: '1', n: '128', k: '64' });
    expect(mixed.map(shapeName)).toEqual([
      ...['attention_12x1x128x64_f32', 'batch_matmul_12x1x128x64_f32', 'batch_matmul_12x1x128x64_f32'],
    ]);
  });

  const sized = { m: '1', n: '1', k: '1' };
  test.each<[SweepText, string]>([
    [{ ...sized, m: '' }, '--m: "" is not a size'],
    [{ ...sized, m: '64,' }, '--m: "" is not a size'],
    [{ ...sized, m: '-64' }, '--m: "-64" is not a size'],
    [{ ...sized, m: '1e3' }, '--m: "1e3" is not a size'],
    [{ ...sized, m: '64:128:32:1' }, '--m: "64:128:32:1" is not a size'],
    [{ ...sized, m: '64::32' }, '--m: "64::32" is not a size'],
    [{ ...sized, m: '0:64:32' }, '--m: a size must be at least 1, not 0'],
    [{ ...sized, m: '64:128:0' }, '--m: the step must be at least 1'],
    [{ ...sized, m: '64:64' }, '--m: the range from 64 to 64 is empty'],
    [{ ...sized, m: '1:999999999' }, '--m: 1:999999999: more than 100000 sizes'],
    [{ m: '1', n: '2' }, '--k is missing: matmul needs m, n, k'],
    [{ ...sized, op: 'conv' }, '--op: "conv" is not one of matmul'],
    [{ ...sized, batch: '2' }, '--batch: matmul has no batch: use batch_matmul'],
    [{ ...sized, op: 'batch_matmul', batch: '2x2' }, '--batch: batch_matmul has one batch dimension'],
    [{ ...sized, dtype: 'f32,half' }, '--dtype: the element type half'],
    [{ ...sized, dtype: 'i8xi8xi32xi32' }, '--dtype: i8xi8xi32xi32: write a type such as f16'],
    [{ ...sized, rhsConstant: 'perhaps' }, '--rhs-constant: "perhaps" is not one of'],
    [{ ...sized, m: '1:2000', n: '1:2000' }, 'the sweep has 7992002 shapes'],
    [{ op: 'softmax', n: '8' }, '--m is missing: softmax needs m, n'],
    [{ ...sized, op: 'softmax' }, '--k: softmax has no such size'],
    [{ op: 'softmax', m: '8', n: '8', rhsConstant: 'yes' }, '--rhs-constant: softmax has no right-hand side'],
    [{ op: 'softmax', m: '8', n: '8', dtype: 'i8' }, '--dtype: softmax takes one float type'],
    [{ op: 'softmax', m: '8', n: '8', batch: '2x' }, '--batch: "" is not a size'],
  ])('%j is refused by the name of the option', (sweep, message) => {
    expect(() => shapesOf(sweep)).toThrow(message);
  });
});

test('the text of every contraction is read as its workload', () => {
  const all = CONTRACTIONS.flatMap((op) =>
    shapesOf({
      ...{ op, m: '1,64', n: '1,48', k: '32', batch: op.startsWith('batch') ? '1,4' : '1' },
      dtype: 'f32,f16,i8',
    }),
  );
  const text = new TextEncoder().encode(shapeModule(all));
  const operations = classify(parse(text).operations, {});
  expect(operations.map((one) => (isTunable(one) ? one.key : one.reason))).toEqual(
    all.map((shape) => workloadKey(contractionOf(shape))),
  );
});
