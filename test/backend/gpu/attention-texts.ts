// Attentions in linalg_ext text, and the compiler's configuration of one for gfx942.

/** A program with one attention of these heads, queries and elements of a key; there are as many keys as queries. */
export function attentionProgram(heads: number, queries: number, depth: number, type: 'f16' | 'f32'): string {
  const shape = `tensor<${heads}x${queries}x${depth}x${type}>`;
  const map = (results: string) => `affine_map<(b, m, n, k1, k2) -> (${results})>`;
  const maps = ['b, m, k1', 'b, k2, k1', 'b, k2, n', '', 'b, m, n'].map(map).join(', ');
  return `func.func @main(%q: ${shape}, %k: ${shape}, %v: ${shape}) -> ${shape} {
  %scale = arith.constant 0.125 : ${type}
  %empty = tensor.empty() : ${shape}
  %r = iree_linalg_ext.attention <{indexing_maps = [${maps}]}> ins(%q, %k, %v, %scale : ${shape}, ${shape}, ${shape}, ${type}) outs(%empty : ${shape}) {
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  } -> ${shape}
  return %r : ${shape}
}
`;
}

const tiles = (entries: string) => `{lowering_config = #iree_gpu.lowering_config<{${entries}}>}`;
const PRODUCTS = `decomposition_config = {pv_attrs = ${tiles(
  'mma_kind = #iree_gpu.mma_layout<MFMA_F32_16x16x16_F16, col_major = true>, promote_operands = [1], subgroup_basis = [[1, 4, 1, 1, 1], [0, 1, 2, 4]]',
)}, qk_attrs = ${tiles(
  'mma_kind = #iree_gpu.virtual_mma_layout<VMFMA_F32_16x16x32_F16, col_major = true>, promote_operands = [0, 1], subgroup_basis = [[1, 4, 1, 1, 1], [0, 1, 3, 4]]',
)}}`;
const map = (results: string) => `affine_map<(d0, d1, d2, d3, d4) -> (${results})>`;
const MAPS = ['d0, d1, d3', 'd0, d4, d3', 'd0, d4, d2', '', 'd0, d1, d2', 'd0, d1', 'd0, d1'].map(map);

/** An attention of 12 heads with 128 queries and keys of 64 elements, as IREE 3.13 configures it for gfx942. */
export const CONFIGURED = `hal.executable public @main_dispatch_0 {
  func.func @main_dispatch_0_attention_12x128x64x64x128() attributes {translation_info = #iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<VectorDistribute> workgroup_size = [256, 1, 1] subgroup_size = 64, {}>} {
    %17:3 = iree_linalg_ext.online_attention <indexing_maps = [${MAPS.join(', ')}], ${PRODUCTS}> ${tiles(
      'promote_operands = [0, 1, 2], reduction = [0, 0, 0, 0, 64], workgroup = [1, 64, 64, 0, 0]',
    )} ins(%8, %9, %10, %cst_2 : tensor<12x128x64xf16>, tensor<12x128x64xf16>, tensor<12x128x64xf16>, f16) outs(%14, %15, %16 : tensor<12x128x64xf32>, tensor<12x128xf32>, tensor<12x128xf32>) {
`;
