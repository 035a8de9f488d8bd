// A block of a multilayer perceptron: two matmuls, each with a bias, the first with a relu.
#row = affine_map<(d0, d1) -> (d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
!input = tensor<256x1000xf32>
!hidden = tensor<256x1024xf32>
!output = tensor<256x500xf32>

func.func @main(%input: !input, %w1: tensor<1000x1024xf32>, %b1: tensor<1024xf32>,
                %w2: tensor<1024x500xf32>, %b2: tensor<500xf32>) -> !output {
  %zero = arith.constant 0.0 : f32
  %empty1 = tensor.empty() : !hidden
  %init1 = linalg.fill ins(%zero : f32) outs(%empty1 : !hidden) -> !hidden
  %mm1 = linalg.matmul ins(%input, %w1 : !input, tensor<1000x1024xf32>) outs(%init1 : !hidden) -> !hidden
  %hidden = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%mm1, %b1 : !hidden, tensor<1024xf32>) outs(%empty1 : !hidden) {
  ^bb0(%x: f32, %b: f32, %out: f32):
    %sum = arith.addf %x, %b : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> !hidden
  %empty2 = tensor.empty() : !output
  %init2 = linalg.fill ins(%zero : f32) outs(%empty2 : !output) -> !output
  %mm2 = linalg.matmul ins(%hidden, %w2 : !hidden, tensor<1024x500xf32>) outs(%init2 : !output) -> !output
  %result = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%mm2, %b2 : !output, tensor<500xf32>) outs(%empty2 : !output) {
  ^bb0(%x: f32, %b: f32, %out: f32):
    %sum = arith.addf %x, %b : f32
    linalg.yield %sum : f32
  } -> !output
  return %result : !output
}
