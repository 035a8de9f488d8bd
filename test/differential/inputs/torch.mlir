func.func @main(%lhs: !torch.vtensor<[16,32],f32>, %rhs: !torch.vtensor<[32,8],f32>) -> !torch.vtensor<[16,8],f32> {
  %result = torch.aten.mm %lhs, %rhs : !torch.vtensor<[16,32],f32>, !torch.vtensor<[32,8],f32> -> !torch.vtensor<[16,8],f32>
  return %result : !torch.vtensor<[16,8],f32>
}
