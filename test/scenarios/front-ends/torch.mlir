func.func @main(%x: !torch.vtensor<[1,8,34,34],f32>, %w: !torch.vtensor<[16,8,3,3],f32>, %v: !torch.vtensor<[24,16,1,1],f32>, %m: !torch.vtensor<[24,40],f32>) -> !torch.vtensor<[1,40],f32> {
  %none = torch.constant.none
  %false = torch.constant.bool false
  %n0 = torch.constant.int 0
  %n1 = torch.constant.int 1
  %n2 = torch.constant.int 2
  %n3 = torch.constant.int 3
  %ones = torch.prim.ListConstruct %n1, %n1 : (!torch.int, !torch.int) -> !torch.list<int>
  %zeros = torch.prim.ListConstruct %n0, %n0 : (!torch.int, !torch.int) -> !torch.list<int>
  %image = torch.prim.ListConstruct %n2, %n3 : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.conv2d %x, %w, %none, %ones, %zeros, %ones, %n1 : !torch.vtensor<[1,8,34,34],f32>, !torch.vtensor<[16,8,3,3],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[1,16,32,32],f32>
  %1 = torch.aten.relu %0 : !torch.vtensor<[1,16,32,32],f32> -> !torch.vtensor<[1,16,32,32],f32>
  %2 = torch.aten.conv2d %1, %v, %none, %ones, %zeros, %ones, %n1 : !torch.vtensor<[1,16,32,32],f32>, !torch.vtensor<[24,16,1,1],f32>, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.int -> !torch.vtensor<[1,24,32,32],f32>
  %3 = torch.aten.sum.dim_IntList %2, %image, %false, %none : !torch.vtensor<[1,24,32,32],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,24],f32>
  %4 = torch.aten.mm %3, %m : !torch.vtensor<[1,24],f32>, !torch.vtensor<[24,40],f32> -> !torch.vtensor<[1,40],f32>
  return %4 : !torch.vtensor<[1,40],f32>
}
