func.func @main(%lhs: tensor<?x64xf32>, %rhs: tensor<64x32xf32>, %init: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %result = linalg.matmul ins(%lhs, %rhs : tensor<?x64xf32>, tensor<64x32xf32>) outs(%init : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %result : tensor<?x32xf32>
}
