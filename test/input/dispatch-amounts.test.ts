import { expect, test } from 'vitest';
import { dispatchAmounts } from '../../src/input/dispatch-amounts.ts';

const tensor = (access: string, type: string) =>
  `!iree_tensor_ext.dispatch.tensor<${access}:tensor<${type}>>`;

/** @param types of the arguments, the last one is written */
function flowOf(types: readonly string[], body: string, sizes = types.map(sizesOf)): Buffer {
  const access = (i: number) => (i === types.length - 1 ? 'writeonly' : 'readonly');
  const list = types.map((type, i) => `%arg${i}: ${tensor(access(i), type)}`).join(', ');
  const loads = types
    .slice(0, -1)
    .map(
      (type, i) =>
        `        %${i} = iree_tensor_ext.dispatch.tensor.load %arg${i}, offsets = [0, 0], sizes = [${sizes[i]!}], strides = [1, 1] : ${tensor('readonly', type)} -> tensor<${type}>\n`,
    );
  const last = types.length - 1;
  return Buffer.from(`module {
  flow.executable private @main_dispatch_0 {
    flow.executable.export public @main_dispatch_0_own workgroups() -> (index, index, index) {
    }
    builtin.module {
      func.func @main_dispatch_0_own(${list}) {
${loads.join('')}        %e = tensor.empty() : tensor<${types[last]!}>
${body}
        iree_tensor_ext.dispatch.tensor.store %r, %arg${last}, offsets = [0, 0], sizes = [${sizes[last]!}], strides = [1, 1] : tensor<${types[last]!}> -> ${tensor('writeonly', types[last]!)}
        return
      }
    }
  }
}
`);
}

const sizesOf = (type: string): string => type.split('x').slice(0, -1).join(', ');

const amountOf = (flow: Buffer) => dispatchAmounts(flow).get('main_dispatch_0');

const product = (type: string, sums: string) =>
  `        %r = linalg.matmul ins(%0, %1 : tensor<4x8x${type}>, tensor<8x16x${type}>) outs(%e : tensor<4x16x${sums}>) -> tensor<4x16x${sums}>`;

test('a product has its multiplications, and bytes by the sizes of its types', () => {
  expect(amountOf(flowOf(['4x8xf32', '8x16xf32', '4x16xf32'], product('f32', 'f32')))).toEqual({
    ...{ multiplications: 4 * 8 * 16, type: 'f32', bytes: 4 * (32 + 128 + 64) },
  });
  expect(amountOf(flowOf(['4x8xi8', '8x16xi8', '4x16xi32'], product('i8', 'i32')))).toEqual({
    ...{ multiplications: 4 * 8 * 16, type: 'i8', bytes: 32 + 128 + 4 * 64 },
  });
});

test('a named convolution sums over the window and the channels, a depthwise one over the window', () => {
  const convolved = (name: string, filter: string, result: string) =>
    amountOf(
      flowOf(
        ['1x8x8x4xf32', filter, result],
        `        %r = linalg.${name} {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%0, %1 : tensor<1x8x8x4xf32>, tensor<${filter}>) outs(%e : tensor<${result}>) -> tensor<${result}>`,
      ),
    )!.multiplications;
  expect(convolved('conv_2d_nhwc_hwcf', '3x3x4x5xf32', '1x6x6x5xf32')).toBe(180 * 36);
  expect(convolved('depthwise_conv_2d_nhwc_hwc', '3x3x4xf32', '1x6x6x4xf32')).toBe(144 * 9);
});

test('a softmax has no products, and a loaded part counts as a part', () => {
  const softmax =
    '        %r = linalg.softmax dimension(1) ins(%0 : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>';
  expect(amountOf(flowOf(['4x8xf32', '4x8xf32'], softmax))).toEqual({
    ...{ multiplications: 0, type: null, bytes: 256 },
  });
  expect(amountOf(flowOf(['4x8xf32', '4x8xf32'], softmax, ['2, 8', '4, 8']))?.bytes).toBe(192);
});

test('a size or a position that is known only at run time gives no bytes', () => {
  const copy = '        %r = tensor.cast %0 : tensor<4x8xf32> to tensor<4x8xf32>';
  expect(amountOf(flowOf(['?x8xf32', '4x8xf32'], copy))?.bytes).toBeNull();
  expect(amountOf(flowOf(['4x8xf32', '4x8xf32'], copy, ['%n, 8', '4, 8']))?.bytes).toBeNull();
  const gathered = '        %r = tensor.extract %0[%i, %j] : tensor<4x8xf32>';
  expect(amountOf(flowOf(['4x8xf32', '4x8xf32'], gathered))?.bytes).toBeNull();
});

test('an operation of unknown products has no number of multiplications', () => {
  const body =
    '        %r = iree_linalg_ext.fft ins(%0 : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>';
  expect(amountOf(flowOf(['4x8xf32', '4x8xf32'], body))?.multiplications).toBeNull();
});

test('an attention multiplies queries by keys, and scores by values', () => {
  const type = '12x128x64xf16';
  const maps = ['(b, m, k)', '(b, n, k)', '(b, n, c)', '()', '(b, m, c)']
    .map((own) => `affine_map<(b, m, c, k, n) -> ${own}>`)
    .join(', ');
  const body = `        %r = iree_linalg_ext.attention <indexing_maps = [${maps}]> ins(%0, %1, %2, %s : tensor<${type}>, tensor<${type}>, tensor<${type}>, f16) outs(%e : tensor<${type}>) {`;
  expect(amountOf(flowOf([type, type, type, type], body))).toEqual({
    ...{ multiplications: 2 * 12 * 128 * 128 * 64, type: 'f16', bytes: 4 * 2 * 12 * 128 * 64 },
  });
});

test('products in tiles have the multiplications of all tiles', () => {
  const types = ['3x2x4x1xi8', '5x2x16x1xi8', '3x5x4x16xi32'];
  const [lhs, rhs, into] = types.map((type) => `tensor<${type}>`);
  const kernel = `        %r = linalg.mmt4d ins(%0, %1 : ${lhs!}, ${rhs!}) outs(%e : ${into!}) -> ${into!}`;
  expect(amountOf(flowOf(types, kernel))).toMatchObject({ multiplications: 3 * 5 * 4 * 16 * 2, type: 'i8' });
  const split = ['3x2x4x1x4xi8', '5x2x16x4xi8', '3x5x4x1x16xi32'];
  const [first, second, result] = split.map((type) => `tensor<${type}>`);
  const intrinsic = `        %r = iree_codegen.inner_tiled ins(%0, %1) outs(%e) {kind = #iree_cpu.data_tiled_mma_layout<intrinsic = MMA, intrinsics_m = 4>, semantics = #iree_cpu.mma_semantics<>} : ${first!}, ${second!} into ${result!}`;
  expect(amountOf(flowOf(split, intrinsic))).toMatchObject({
    ...{ multiplications: 3 * 5 * 4 * 16 * 2 * 4, type: 'i8' },
  });
});
