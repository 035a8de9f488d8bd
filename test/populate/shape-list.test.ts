import { describe, expect, test } from 'vitest';
import { parseShapeList } from '../../src/populate/sweep.ts';

const csv = (text: string) => parseShapeList(text, 'shapes.csv');

describe('a list of shapes', () => {
  test('columns can have any order, and most are optional', () => {
    const F32 = { op: 'matmul', batch: [1], lhs: 'f32', rhs: 'f32', acc: 'f32', count: 1 };
    const first = { ...F32, m: 1, n: 2, k: 3, source: 'shapes.csv:2' };
    expect(csv('k,m,n\n3,1,2\n')).toEqual([
      { ...first, rhsConstant: false },
      { ...first, rhsConstant: true },
    ]);
    const all =
      'rhs_constant,count,acc,rhs,lhs,k,n,m,batch,op\nyes,7,i32,i4,i8,64,48,32,8,batch_matmul_transpose_b\n';
    expect(csv(all)).toEqual([
      {
        ...{ op: 'batch_matmul_transpose_b', batch: [8], m: 32, n: 48, k: 64, source: 'shapes.csv:2' },
        ...{ lhs: 'i8', rhs: 'i4', acc: 'i32', rhsConstant: true, count: 7 },
      },
    ]);
  });

  test('accumulators have defaults, and a batch selects a batched operation', () => {
    const [one] = csv('m,n,k,lhs,batch,rhs_constant\n1,2,3,f16,4,no\n');
    expect(one).toMatchObject({ op: 'batch_matmul', batch: [4], lhs: 'f16', rhs: 'f16', acc: 'f32' });
  });

  test('the CSV of spreadsheets is read: byte order mark, CRLF, quotes, empty lines, comments', () => {
    const text =
      '\ufeff"m","n", k ,rhs_constant\r\n\r\n# of the encoder\r\n"64","32","16","no"\r\n,,,\r\n8,8,8,TRUE\r\n';
    expect(csv(text).map(({ m, rhsConstant, source }) => [m, rhsConstant, source])).toEqual([
      [64, false, 'shapes.csv:4'],
      [8, true, 'shapes.csv:6'],
    ]);
  });

  test('a line may be a sweep, or a softmax', () => {
    const text = 'op,m,n,k,rhs_constant,count\n,64:193:64,32,16,no,5\nsoftmax,8,9,,,2\n';
    expect(csv(text).map(({ op, m, count }) => [op, m, count])).toEqual([
      ...[64, 128, 192].map((m) => ['matmul', m, 5]),
      ['softmax', 8, 2],
    ]);
  });

  test.each([
    ['', 'shapes.csv: the file is empty'],
    ['m,n\n1,2\n', 'shapes.csv:2: column k is missing: matmul needs m, n, k'],
    ['m,n,k,m\n', 'shapes.csv:1: column m occurs twice'],
    ['m,n,k,tile\n1,2,3,4\n', 'shapes.csv:1: unknown column "tile"'],
    ['m,n,k\n1,2,3\n1,x,3\n', 'shapes.csv:3: column n: "x" is not a size'],
    ['m,n,k,count\n1,2,3,0\n', 'shapes.csv:2: column count: "0" is not a whole number'],
    ['m,n,k\n1,2,3,4\n', 'shapes.csv:2: column 4 has no name'],
    ['op,batch,m,n,k\nmatmul,2,1,2,3\n', 'shapes.csv:2: column batch: matmul has no batch: use batch_matmul'],
    ['m,n,k,lhs,rhs\n1,2,3,f32,i8\n', 'column lhs, rhs or acc: f32, i8 and f32 mix floats and integers'],
    ['m,n,k,acc\n1,2,3,f16\n', 'acc: the sum type f16 is too narrow for products of 32 bits'],
    ['m,n,k,rhs_constant\n1,2,3,maybe\n', 'shapes.csv:2: column rhs_constant: "maybe" is not one of'],
    ['m,n,k\n1,2,3\n"4,5,6\n', 'shapes.csv:3: Quote Not Closed'],
  ])('%j names file, line and column', (text, message) => {
    expect(() => csv(text)).toThrow(message);
  });
});
