// A prime size: no tile divides it.
func.func @main(%lhs: tensor<997x997xf32>, %rhs: tensor<997x997xf32>) -> tensor<997x997xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<997x997xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<997x997xf32>) -> tensor<997x997xf32>
  %result = linalg.matmul ins(%lhs, %rhs : tensor<997x997xf32>, tensor<997x997xf32>)
                          outs(%init : tensor<997x997xf32>) -> tensor<997x997xf32>
  return %result : tensor<997x997xf32>
}
