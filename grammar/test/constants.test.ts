import { describe, expect, test } from 'vitest';
import { only } from './fixtures.ts';

/** Whether `%b` is constant after these statements. */
function constant(statements: string, before = '', value = '%b'): boolean {
  const operation = only(`${before}
func.func @main(%a: tensor<3x5xf32>, %x: tensor<5x7xf32>, %c: tensor<3x7xf32>) {
  ${statements}
  %0 = linalg.matmul ins(%a, ${value} : tensor<3x5xf32>, tensor<5x7xf32>) outs(%c : tensor<3x7xf32>) -> tensor<3x7xf32>
}
`);
  expect(operation.operands.map((operand) => operand.constant)).toEqual([
    false,
    operation.operands[1]!.constant,
    false,
  ]);
  return operation.operands[1]!.constant;
}

const dense = 'dense<1.0> : tensor<5x7xf32>';

describe('constant', () => {
  test.each([
    `%b = arith.constant ${dense}`,
    `%b = flow.tensor.constant ${dense}`,
    `%b = stablehlo.constant ${dense}`,
    `%b = "arith.constant"() <{value = ${dense}}> : () -> tensor<5x7xf32>`,
    `%w = arith.constant dense<1.0> : tensor<35xf32> %b = tensor.expand_shape %w [[0, 1]] output_shape [5, 7] : tensor<35xf32> into tensor<5x7xf32>`,
    `%w = arith.constant dense<1.0> : tensor<1x5x7xf32> %b = tensor.collapse_shape %w [[0, 1], [2]] : tensor<1x5x7xf32> into tensor<5x7xf32>`,
    `%w = arith.constant ${dense} %b = "tensor.cast"(%w) : (tensor<5x7xf32>) -> tensor<5x7xf32>`,
    `%w = arith.constant dense<1.0> : tensor<7x5xf32> %b = linalg.transpose ins(%w : tensor<7x5xf32>) outs(%e : tensor<5x7xf32>) permutation = [1, 0]`,
    `%b = util.global.load @g : tensor<5x7xf32>`,
    `%b = util.global.load immutable @g : tensor<5x7xf32>`,
    `%b = "util.global.load"() <{global = @g, is_immutable}> : () -> tensor<5x7xf32>`,
    `%b = ml_program.global_load_const @p : tensor<5x7xf32>`,
    `%b = util.global.load @q : tensor<5x7xf32>`,
    `%w = stablehlo.constant ${dense} %t = stablehlo.transpose %w, dims = [1, 0] : (t) -> t %b = stablehlo.convert %t : (t) -> t`,
    `%w = stablehlo.constant ${dense} %t = stablehlo.broadcast_in_dim %w, dims = [0] : (t) -> t %b = stablehlo.reshape %t : (t) -> t`,
    `%w = "tosa.const"() <{values = ${dense}}> : () -> t %t = tosa.transpose %w {perms = array<i32: 1, 0>} : (t) -> t %b = tosa.reshape %t, %s : (t, s) -> t`,
    `%w = torch.vtensor.literal(${dense}) : t %t = torch.aten.t %w : t -> t %b = torch.aten.transpose.int %t, %i, %j : t, i, i -> t`,
    `%w = torch.vtensor.literal(${dense}) : t %b = "torch.aten.permute"(%w, %l) : (t, l) -> t`,
    `%b = torch.operator "onnx.Constant"() {torch.onnx.value = ${dense}} : () -> t`,
    `%w = torch.operator "onnx.Constant"() {torch.onnx.value = ${dense}} : () -> t %b = torch.operator "onnx.Transpose"(%w) {torch.onnx.perm = [1 : si64]} : (t) -> t`,
    `%b = "torch.operator"() <{name = "onnx.Constant"}> {torch.onnx.value = ${dense}} : () -> t`,
    `%w = "torch.operator"() <{name = "onnx.Constant"}> ({}) : () -> t %b = "torch.operator"(%w) <{name = "onnx.Reshape"}> : (t) -> t`,
    `%w = util.global.load @g : tensor<5x7xf32> %b = tensor.cast %w : tensor<5x7xf32> to tensor<5x7xf32>`,
  ])('%s', (statements) => {
    const globals = `util.global private @g = ${dense}
ml_program.global private @p(${dense}) : tensor<5x7xf32>
"util.global"() <{initial_value = ${dense}, sym_name = "q", type = tensor<5x7xf32>}> : () -> ()`;
    expect(constant(statements, globals)).toBe(true);
  });

  test('a load of a global that is defined later', () => {
    const text = `module { func.func @f() { %b = util.global.load @g : tensor<5x7xf32>
      linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x7xf32>) outs(%c : tensor<3x7xf32>) }
      util.global private @g = ${dense} }`;
    expect(only(text).operands[1]!.constant).toBe(true);
  });

  test('a value from outside of a loop', () => {
    const text = `func.func @f() { %b = arith.constant ${dense} scf.for %i = %l to %u step %s { scf.if %p { } else {
      linalg.matmul ins(%a, %b#0 : tensor<3x5xf32>, tensor<5x7xf32>) outs(%c : tensor<3x7xf32>) } } }`;
    expect(only(text).operands[1]!.constant).toBe(true);
  });
});

describe('not constant', () => {
  test.each([
    '',
    '%b = foo.bar : tensor<5x7xf32>',
    '%b = linalg.fill ins(%z : f32) outs(%x : tensor<5x7xf32>) -> tensor<5x7xf32>',
    '%b = tensor.cast %x : tensor<5x7xf32> to tensor<5x7xf32>',
    '%b = util.global.load @m : tensor<5x7xf32>',
    '%b = util.global.load @unknown : tensor<5x7xf32>',
    '%b = "util.global.load"() <{global = @n}> : () -> tensor<5x7xf32>',
    `scf.if %p { %b = arith.constant ${dense} }`,
    '%b = torch.operator "onnx.Transpose"(%x) : (t) -> t',
    '%b = torch.operator "onnx.Relu"(%x) : (t) -> t',
    `%w = torch.operator "onnx.Constant"() : () -> t %b = torch.operator "onnx.Loop"(%w) : (t) -> t`,
    `%b, %d = torch.operator "onnx.Constant"() : () -> (t, t)`,
  ])('%s', (statements) => {
    const globals = `util.global private mutable @m = ${dense}
"util.global"() <{is_mutable, sym_name = "n", type = tensor<5x7xf32>}> : () -> ()`;
    expect(constant(statements, globals)).toBe(false);
  });

  test('another result of the same name', () => {
    expect(constant(`%b = arith.constant ${dense}`, '', '%b#1')).toBe(false);
  });

  test('a constant of another function', () => {
    const other = `func.func @other() { %b = arith.constant ${dense} }`;
    expect(constant('', other)).toBe(false);
  });

  test('an argument of an isolated region with the name of a constant outside', () => {
    const text = `func.func @f() { %b = arith.constant ${dense} flow.dispatch.workgroups[%c](%a) = (%b: tensor<5x7xf32>) {
      linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x7xf32>) outs(%c : tensor<3x7xf32>) } }`;
    expect(only(text).operands[1]!.constant).toBe(false);
  });

  test('a global that is mutable in one of several modules', () => {
    const text = `module { util.global private @g = ${dense} } module { util.global private mutable @g = ${dense} func.func @f() {
      %b = util.global.load @g : tensor<5x7xf32>
      linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x7xf32>) outs(%c : tensor<3x7xf32>) } }`;
    expect(only(text).operands[1]!.constant).toBe(false);
  });
});
