// naïve
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {note = "é"} {
  %y = arith.addf %x, %x {née} : tensor<4xf32>
  return %y : tensor<4xf32>
}
