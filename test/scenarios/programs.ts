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
