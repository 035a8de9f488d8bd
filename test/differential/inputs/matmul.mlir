func.func @main(%lhs: tensor<61x71xf32>, %rhs: tensor<71x67xf32>, %init: tensor<61x67xf32>) -> tensor<61x67xf32> {
  %result = linalg.matmul ins(%lhs, %rhs : tensor<61x71xf32>, tensor<71x67xf32>) outs(%init : tensor<61x67xf32>) -> tensor<61x67xf32>
  return %result : tensor<61x67xf32>
}
