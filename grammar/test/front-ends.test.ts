import { describe, expect, test } from 'vitest';
import { typeText } from '../src/main.ts';
import { only, parseText } from './fixtures.ts';

describe('front ends', () => {
  const t = 'tensor<2x3x5xf32>, tensor<2x5x7xf32>';

  test('the clauses after the operands are attributes', () => {
    const text = `%0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, b = 1> {foo} : (${t}) -> tensor<2x3x7xf32>`;
    const operation = only(text);
    expect(operation.attributes.map(({ start, end }) => text.slice(start, end))).toEqual([
      'batching_dims = [0] x [0]',
      'contracting_dims = [2] x [1]',
      'precision = [DEFAULT, DEFAULT]',
      'algorithm = <lhs_precision_type = tf32, b = 1>',
      'foo',
    ]);
    expect(operation).toMatchObject({
      kind: 'to-normalise',
      body: 'other',
      indexingMaps: [],
      iteratorTypes: [],
    });
    expect(operation.results.map(typeText)).toEqual(['tensor<2x3x7xf32>']);
  });

  test('operands may be in parentheses, and braces in a clause are not the dictionary', () => {
    const text = `%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [1], pad = [[0, 0]]} {feature_group_count = 1 : i64} : (${t}) -> tensor<2x3x7xf32>`;
    const operation = only(text);
    expect(operation.attributes.map(({ start, end }) => text.slice(start, end))).toEqual([
      'dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f]',
      'window = {stride = [1], pad = [[0, 0]]}',
      'feature_group_count = 1 : i64',
    ]);
    expect(operation.operands.map(({ role, value }) => [role, value])).toEqual([
      ['lhs', '%a'],
      ['rhs', '%b'],
    ]);
    expect(operation.end).toBe(text.length);
  });

  test('clauses may be in parentheses, without commas', () => {
    const text = `%0 = tosa.conv2d %a, %b, %c pad([0, 0]) acc_type(f32) {foo} : (${t}, f32) -> tensor<2x3x7xf32>`;
    const operation = only(text);
    expect(operation.attributes.map(({ start, end }) => text.slice(start, end))).toEqual([
      'pad([0, 0])',
      'acc_type(f32)',
      'foo',
    ]);
    expect(operation.operands.map(({ role }) => role)).toEqual(['lhs', 'rhs', 'input']);
  });

  test('several results need no parentheses', () => {
    const operation = only(
      '%0, %1, %2 = torch.aten.convolution_backward %a, %b : f32, f32 -> !torch.vtensor<[3],f32>, i1, !torch.none loc(unknown)',
    );
    expect(operation.results.map(typeText)).toEqual(['!torch.vtensor<[3],f32>', 'i1', '!torch.none']);
  });

  test('operands at the end may be missing', () => {
    const roles = (text: string): string[] => only(text).operands.map(({ role }) => role);
    expect(roles(`tosa.matmul %a, %b : (${t}) -> tensor<2x3x7xf32>`)).toEqual(['lhs', 'rhs']);
    expect(roles(`torch.operator "onnx.Gemm"(%a, %b) : (${t}) -> f32`)).toEqual(['lhs', 'rhs']);
    expect(roles(`torch.operator "onnx.Gemm"(%a, %b, %c) : (${t}, f32) -> f32`)).toEqual([
      'lhs',
      'rhs',
      'input',
    ]);
    expect(roles(`torch.aten.addmm %c, %a, %b, %x, %y : f32, ${t}, i1, i1 -> f32`)).toEqual([
      'input',
      'lhs',
      'rhs',
      'input',
      'input',
    ]);
  });

  test('constant operands are known', () => {
    const text =
      '%b = torch.vtensor.literal(dense<1.0> : tensor<5x7xf32>) : !torch.vtensor<[5,7],f32>\n%0 = torch.aten.mm %a, %b : !torch.vtensor<[3,5],f32>, !torch.vtensor<[5,7],f32> -> !torch.vtensor';
    expect(only(text).operands.map(({ constant }) => constant)).toEqual([false, true]);
  });

  test.each([
    ['another operator', 'torch.operator "onnx.Relu"(%a) : (T) -> T'],
    ['another quoted operator', '"torch.operator"(%a) <{name = "onnx.Relu"}> : (T) -> T'],
    ['a quoted operator without a name', '"torch.operator"(%a) {a} : (T) -> T'],
    ['an operator that no torch.operator is', '"onnx.MatMul"(%a, %b) : (T, T) -> T'],
    ['longer names', 'torch.aten.mm.out %a, %b : T, T -> T torch.aten.matmul$x %a, %b : T, T -> T'],
    ['attributes', 'foo.bar {stablehlo.dot = #stablehlo.dot<a = [0]>, torch.aten.mm}'],
    ['a symbol', 'func.func @torch.aten.mm(%a: f32) { }'],
  ])('%s is of no interest', (_, text) => {
    expect(parseText(text)).toEqual({ operations: [], problems: [] });
  });

  test('an older operator has its name in the dictionary', () => {
    expect(only('"torch.operator"(%a, %b) {name = "onnx.MatMul"} : (T, T) -> T').name).toBe('onnx.MatMul');
  });

  test.each([
    ['operands without types', 'torch.aten.mm %a, %b'],
    ['too few operands', 'torch.aten.mm %a : T -> T'],
    ['more operands than types', 'stablehlo.dot %a, %b : (T) -> T'],
    ['no result', 'stablehlo.dot %a, %b : (T, T)'],
    ['a clause that does not end', 'stablehlo.dot %a, %b, precision = [ : (T, T) -> T'],
    ['a clause without a value', 'stablehlo.dot %a, %b, precision : (T, T) -> T'],
    ['operands whose parenthesis does not end', 'stablehlo.convolution(%a, %b : (T, T) -> T'],
    ['a result that is none', 'stablehlo.dot %a, %b : (T, T) -> T, )'],
    ['too few zero points', 'linalg.quantized_matmul ins(%a, %b, %z : T, T, i32) outs(%c : T) -> T'],
  ])('%s: a problem, not an operation', (_, text) => {
    const { operations, problems } = parseText(text);
    expect(operations).toEqual([]);
    expect(problems.map(({ offset }) => offset)).toEqual([0]);
  });

  test('operations in the regions of other operators are found', () => {
    const inner = '%1 = torch.operator "onnx.MatMul"(%a, %b) : (T, T) -> T';
    expect(only(`%0 = torch.operator "onnx.If"(%c) : (T) -> T { ${inner} }`).name).toBe('onnx.MatMul');
    expect(only(`%0 = "torch.operator"(%c) <{name = "onnx.If"}> ({ ${inner} }) : (T) -> T`).name).toBe(
      'onnx.MatMul',
    );
  });
});
