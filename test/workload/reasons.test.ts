// Operations without a workload, each with its code. `contraction/from-operation.test.ts` has the texts.
import { parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import { workloadOf } from '../../src/workload/workload.ts';

const over = (types: readonly [string, string, string]) =>
  `ins(%a, %b : tensor<${types[0]}>, tensor<${types[1]}>) outs(%c : tensor<${types[2]}>)`;
/** The sum of products over a dimension of the left operand alone. */
const summedAlone = `%r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ${over(['8x4xf32', '8xf32', '8x8xf32'])} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>`;

test.each([
  [
    'operation-unsupported',
    `%r = linalg.conv_2d ${over(['9x9xf32', '2x2xf32', '8x8xf32'])} -> tensor<8x8xf32>`,
  ],
  ['operation-unclear', `%r = linalg.matmul ${over(['?x4xf32', '4x8xf32', '8x8xf32'])} -> tensor<8x8xf32>`],
  ['form-unsupported', summedAlone],
  [
    'layout-unsupported',
    `%r = linalg.mmt4d ${over(['2x4x8x1xf32', '3x4x16x1xf32', '2x3x8x16xf32'])} -> tensor<2x3x8x16xf32>`,
  ],
  [
    'own-configuration',
    `%r = linalg.matmul {lowering_config = #x.y<z = [1]>} ${over(['8x4xf32', '4x8xf32', '8x8xf32'])} -> tensor<8x8xf32>`,
  ],
])('%s', (code, operation) => {
  const { operations } = parse(Buffer.from(`func.func @main() {\n  ${operation}\n  return\n}\n`));
  expect(operations).toHaveLength(1);
  expect(workloadOf(operations[0]!)).toMatchObject({ code });
});
