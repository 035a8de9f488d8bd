// Texts of programs that several scenarios build.

/** A depthwise convolution with its channels first. */
export const DEPTHWISE_PROGRAM = `func.func @main(%image: tensor<1x32x66x66xf32>, %filter: tensor<32x3x3xf32>) -> tensor<1x32x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x32x64x64xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x32x64x64xf32>) -> tensor<1x32x64x64xf32>
  %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%image, %filter : tensor<1x32x66x66xf32>, tensor<32x3x3xf32>) outs(%filled : tensor<1x32x64x64xf32>) -> tensor<1x32x64x64xf32>
  return %0 : tensor<1x32x64x64xf32>
}
`;

/** A product of 96x64 and 64x128 in the generic form. */
export const GENERIC_PRODUCT = `%m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<96x64xf32>, tensor<64x128xf32>) outs(%f : tensor<96x128xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<96x128xf32>`;

/** The transpose of such a product. The compiler folds it into the product, and loops over n before m. */
export const turned = (
  product: string,
) => `func.func @turned(%a: tensor<96x64xf32>, %b: tensor<64x128xf32>, %f: tensor<96x128xf32>) -> tensor<128x96xf32> {
  ${product}
  %e = tensor.empty() : tensor<128x96xf32>
  %t = linalg.transpose ins(%m : tensor<96x128xf32>) outs(%e : tensor<128x96xf32>) permutation = [1, 0]
  return %t : tensor<128x96xf32>
}
`;

/** A function with a matmul of each size, on arguments of its own. */
export function productsOf(sizes: readonly (readonly [m: number, n: number, k: number])[]): string {
  const types = sizes.map(([m, n, k]) => ({
    lhs: `tensor<${m}x${k}xf32>`,
    rhs: `tensor<${k}x${n}xf32>`,
    result: `tensor<${m}x${n}xf32>`,
  }));
  const parameters = types.map(({ lhs, rhs }, i) => `%a${i}: ${lhs}, %b${i}: ${rhs}`).join(', ');
  const bodies = types.map(
    ({ lhs, rhs, result }, i) => `  %e${i} = tensor.empty() : ${result}
  %f${i} = linalg.fill ins(%zero : f32) outs(%e${i} : ${result}) -> ${result}
  %r${i} = linalg.matmul ins(%a${i}, %b${i} : ${lhs}, ${rhs}) outs(%f${i} : ${result}) -> ${result}
`,
  );
  const results = types.map(({ result }) => result).join(', ');
  return `func.func @main(${parameters}) -> (${results}) {
  %zero = arith.constant 0.0 : f32
${bodies.join('')}  return ${types.map((_, i) => `%r${i}`).join(', ')} : ${results}
}
`;
}

/** Two pointwise convolutions of one intermediate result. The second convolution reads every other row and column. */
export const STRIDED_PROGRAM = `func.func @main(%x: tensor<1x8x8x16xf32>, %w0: tensor<1x1x16x32xf32>, %w1: tensor<1x1x32x48xf32>, %w2: tensor<1x1x32x16xf32>) -> (tensor<1x4x4x48xf32>, tensor<1x8x8x16xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<1x8x8x32xf32>
  %h = stablehlo.convolution(%x, %w0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<1x1x16x32xf32>) -> tensor<1x8x8x32xf32>
  %r = stablehlo.maximum %h, %zero : tensor<1x8x8x32xf32>
  %y = stablehlo.convolution(%r, %w1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x32xf32>, tensor<1x1x32x48xf32>) -> tensor<1x4x4x48xf32>
  %z = stablehlo.convolution(%r, %w2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x32xf32>, tensor<1x1x32x16xf32>) -> tensor<1x8x8x16xf32>
  return %y, %z : tensor<1x4x4x48xf32>, tensor<1x8x8x16xf32>
}
`;
