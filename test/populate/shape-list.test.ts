import { describe, expect, test } from 'vitest';
import { parseShapeList } from '../../src/populate/shape-list.ts';

const csv = (text: string) => parseShapeList(text, 'shapes.csv');
const json = (text: string) => parseShapeList(text, 'shapes.json');
const F32 = { op: 'matmul', batch: 1, lhs: 'f32', rhs: 'f32', acc: 'f32', count: 1 };

describe('a list of shapes', () => {
  test('columns can have any order, and most are optional', () => {
    expect(csv('k,m,n\n3,1,2\n').map(({ shape }) => shape)).toEqual([
      { ...F32, m: 1, n: 2, k: 3, rhsConstant: false },
      { ...F32, m: 1, n: 2, k: 3, rhsConstant: true },
    ]);
    const all =
      'rhs_constant,count,acc,rhs,lhs,k,n,m,batch,op\nyes,7,i32,i4,i8,64,48,32,8,batch_matmul_transpose_b\n';
    expect(csv(all)).toEqual([
      {
        shape: {
          ...{ op: 'batch_matmul_transpose_b', batch: 8, m: 32, n: 48, k: 64 },
          ...{ lhs: 'i8', rhs: 'i4', acc: 'i32', rhsConstant: true, count: 7 },
        },
        where: 'shapes.csv:2',
      },
    ]);
  });

  test('accumulators have defaults, and a batch selects a batched operation', () => {
    const [one] = csv('m,n,k,lhs,batch,rhs_constant\n1,2,3,f16,4,no\n');
    expect(one!.shape).toMatchObject({ op: 'batch_matmul', batch: 4, lhs: 'f16', rhs: 'f16', acc: 'f32' });
  });

  test('the CSV of spreadsheets is read: byte order mark, CRLF, quotes, empty lines, comments', () => {
    const text =
      '\ufeff"m","n", k ,rhs_constant\r\n\r\n# of the encoder\r\n"64","32","16","no"\r\n,,,\r\n8,8,8,TRUE\r\n';
    expect(csv(text).map(({ shape: { m, rhsConstant }, where }) => [m, rhsConstant, where])).toEqual([
      [64, false, 'shapes.csv:4'],
      [8, true, 'shapes.csv:6'],
    ]);
  });

  test.each([
    ['', 'shapes.csv: the file is empty'],
    ['m,n\n1,2\n', 'shapes.csv:1: column k is missing'],
    ['m,n,k,m\n', 'shapes.csv:1: column m occurs twice'],
    ['m,n,k,tile\n1,2,3,4\n', 'shapes.csv:1: unknown column "tile"'],
    ['m,n,k\n1,2,3\n1,x,3\n', 'shapes.csv:3: column n: "x" is not a size'],
    ['m,n,k\n1,2,0\n', 'shapes.csv:2: column k: "0" is not a size'],
    ['m,n,k\n1,2\n', 'shapes.csv:2: column k: the value is missing'],
    ['m,n,k\n1,2,3,4\n', 'shapes.csv:2: column 4 has no name'],
    ['op,m,n,k\nconv,1,2,3\n', 'shapes.csv:2: column op: "conv" is not one of matmul,'],
    ['op,batch,m,n,k\nmatmul,2,1,2,3\n', 'shapes.csv:2: column batch: matmul has no batch: use batch_matmul'],
    ['m,n,k,lhs\n1,2,3,fp32\n', 'shapes.csv:2: column lhs: the element type fp32 is not one of'],
    ['m,n,k,lhs,rhs\n1,2,3,f32,i8\n', 'shapes.csv:2: column rhs: f32, i8 and f32 mix floats and integers'],
    [
      'm,n,k,acc\n1,2,3,f16\n',
      'shapes.csv:2: column acc: the sum type f16 is too narrow for products of 32 bits',
    ],
    ['m,n,k,rhs_constant\n1,2,3,maybe\n', 'shapes.csv:2: column rhs_constant: "maybe" is not one of'],
    ['m,n,k\n1,2,3\n"4,5,6\n', 'shapes.csv:3: Quote Not Closed'],
  ])('%j names file, line and column', (text, message) => {
    expect(() => csv(text)).toThrow(message);
  });

  test('JSON has the same names', () => {
    const text =
      '[\n  {"m": 1, "n": 2, "k": 3, "rhs_constant": false},\n  {"op": "matmul", "m": "4", "n": 5, "k": 6, "rhs_constant": true}\n]\n';
    expect(json(text).map(({ shape: { m, rhsConstant }, where }) => [m, rhsConstant, where])).toEqual([
      [1, false, 'shapes.json:2'],
      [4, true, 'shapes.json:3'],
    ]);
    expect(json('[]')).toEqual([]);
  });

  test.each([
    ['{"m": 1}', 'shapes.json:1:1: a list of shapes is an array'],
    ['', 'shapes.json:1:1: invalid JSON'],
    ['[\n  {"m": 1 "n": 2}\n]', 'shapes.json:2:11: invalid JSON'],
    ['[\n  7\n]', 'shapes.json:2:3: a shape is an object'],
    ['[\n  {"m": 1, "tile": 2}\n]', 'shapes.json:2:12: unknown column "tile"'],
    ['[\n  {"m": [1], "n": 2, "k": 3}\n]', 'shapes.json:2:9: column m: give a number or a word'],
    ['[\n  {"m": 1, "n": 2}\n]', 'shapes.json:2: column k: the value is missing'],
    ['[\n  {"m": 1, "n": 2.5, "k": 3}\n]', 'shapes.json:2: column n: "2.5" is not a size'],
  ])('%j as JSON names the place too', (text, message) => {
    expect(() => json(text)).toThrow(message);
  });
});
