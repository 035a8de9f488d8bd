func.func @main(%lhs: tensor<8x8xf32>) -> tensor<8x8xf33> {
  return %lhs : tensor<8x8xf33>
}
