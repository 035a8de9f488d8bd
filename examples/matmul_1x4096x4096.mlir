// One token through a large layer: bound by memory, not by arithmetic.
func.func @main(%lhs: tensor<1x4096xf32>, %rhs: tensor<4096x4096xf32>) -> tensor<1x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x4096xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %result = linalg.matmul ins(%lhs, %rhs : tensor<1x4096xf32>, tensor<4096x4096xf32>)
                          outs(%init : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  return %result : tensor<1x4096xf32>
}
