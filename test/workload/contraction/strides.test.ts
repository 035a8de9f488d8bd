// Strides of a root become slices before the root. Other text stays unchanged.
import { parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import { rewrittenRoot } from '../../../src/workload/contraction/strides.ts';

const body = `{
        ^bb0(%in: f32, %in_0: f32, %out: f32):
          %7 = arith.mulf %in, %in_0 : f32
          %8 = arith.addf %out, %7 : f32
          linalg.yield %8 : f32
        } -> tensor<4x3x48xf32>`;
const before = '      func.func @dispatch() {\n        %a = arith.constant 0 : index\n';
const root = (map: string, ins: string, attributes = '') =>
  `${before}        %5 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (${map})>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(${ins}) outs(%4 : tensor<4x3x48xf32>)${attributes} ${body}\n      }\n`;
const rewrite = (text: string) => {
  const [operation] = parse(Buffer.from(text)).operations;
  return rewrittenRoot(text, operation!, 'a = 1');
};

test('a strided operand is sliced before the root, and the root gets the attribute', () => {
  const ins = '%0, %1 : tensor<8x9x32xf32>, tensor<32x48xf32>';
  expect(rewrite(root('d0 * 2, d1 * 3, d3', ins))).toBe(
    root('d0, d1, d3', '%strided0, %1 : tensor<4x3x32xf32>, tensor<32x48xf32>', ' attrs = {a = 1}').replace(
      before,
      `${before}        %strided0 = tensor.extract_slice %0[0, 0, 0] [4, 3, 32] [2, 3, 1] : tensor<8x9x32xf32> to tensor<4x3x32xf32>\n`,
    ),
  );
});

test('a root without strides only gets the attribute', () => {
  const ins = '%0, %1 : tensor<4x3x32xf32>, tensor<32x48xf32>';
  expect(rewrite(root('d0, d1, d3', ins))).toBe(root('d0, d1, d3', ins, ' attrs = {a = 1}'));
});

test('text in another layout is refused', () => {
  const ins = '%0, %1 : tensor<8x9x32xf32>, tensor<32x48xf32>';
  expect(rewrite(root('d0*2, d1 * 3, d3', ins))).toBe(null);
  expect(rewrite(root('d0 * 2, d1 * 3, d3', ins.replace(' : ', ':')))).toBe(null);
});
