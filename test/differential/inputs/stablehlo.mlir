func.func @main(%lhs: tensor<16x32xf32>, %rhs: tensor<32x8xf32>) -> tensor<16x8xf32> {
  %result = stablehlo.dot_general %lhs, %rhs, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
  return %result : tensor<16x8xf32>
}
