// The projection of a small transformer: 384 tokens, 768 features.
func.func @main(%lhs: tensor<384x768xf32>, %rhs: tensor<768x768xf32>) -> tensor<384x768xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<384x768xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<384x768xf32>) -> tensor<384x768xf32>
  %result = linalg.matmul ins(%lhs, %rhs : tensor<384x768xf32>, tensor<768x768xf32>)
                          outs(%init : tensor<384x768xf32>) -> tensor<384x768xf32>
  return %result : tensor<384x768xf32>
}
