// One matmul in every dialect of the compiler.
import { oddMatmul } from './support.ts';

const [lhs, rhs, out] = ['tensor<61x71xf32>', 'tensor<71x67xf32>', 'tensor<61x67xf32>'];
const [lhsTorch, rhsTorch, outTorch] = [lhs, rhs, out].map(
  (type) => `!torch.vtensor<[${type.slice(7, 12).replace('x', ',')}],f32>`,
);
const fn = (a: string, b: string, c: string, body: string, attributes = '') =>
  `func.func @main(%a: ${a}, %b: ${b}) -> ${c} ${attributes} {\n${body}\n  return %r : ${c}\n}\n`;

/** Names of dialects, with the texts. */
export const dialects: readonly (readonly [string, string])[] = [
  [
    'stablehlo',
    fn(
      lhs,
      rhs,
      out,
      `  %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (${lhs}, ${rhs}) -> ${out}`,
    ),
  ],
  [
    'onnx',
    fn(
      lhsTorch!,
      rhsTorch!,
      outTorch!,
      `  %r = torch.operator "onnx.MatMul"(%a, %b) : (${lhsTorch!}, ${rhsTorch!}) -> ${outTorch!}`,
      'attributes {torch.onnx_meta.ir_version = 7 : si64, torch.onnx_meta.opset_version = 13 : si64}',
    ),
  ],
  ['linalg', oddMatmul],
  [
    'tosa',
    `func.func @main(%a: tensor<1x61x71xf32>, %b: tensor<1x71x67xf32>) -> tensor<1x61x67xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %r = tosa.matmul %a, %b, %z, %z : (tensor<1x61x71xf32>, tensor<1x71x67xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x61x67xf32>
  return %r : tensor<1x61x67xf32>
}
`,
  ],
  [
    'torch',
    fn(
      lhsTorch!,
      rhsTorch!,
      outTorch!,
      `  %r = torch.aten.mm %a, %b : ${lhsTorch!}, ${rhsTorch!} -> ${outTorch!}`,
    ),
  ],
];

/** The text in one of them. */
export const dialect = (name: string): string => dialects.find(([one]) => one === name)![1];
