func.func @main(%x: tensor<1x8x34x34xf32>, %w: tensor<16x8x3x3xf32>, %v: tensor<24x16x1x1xf32>, %m: tensor<24x40xf32>) -> tensor<1x40xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<1x16x32x32xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x34x34xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x32x32xf32>
  %1 = stablehlo.maximum %0, %zeros : tensor<1x16x32x32xf32>
  %2 = stablehlo.convolution(%1, %v) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x32x32xf32>, tensor<24x16x1x1xf32>) -> tensor<1x24x32x32xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [2, 3] : (tensor<1x24x32x32xf32>, tensor<f32>) -> tensor<1x24xf32>
  %4 = stablehlo.dot %3, %m : (tensor<1x24xf32>, tensor<24x40xf32>) -> tensor<1x40xf32>
  return %4 : tensor<1x40xf32>
}
