func.func @main(%lhs: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %result = linalg.matmul ins(%lhs, %rhs : tensor<8x8xf32>
