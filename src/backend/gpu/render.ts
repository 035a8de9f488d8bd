// Configurations of GPUs as MLIR attributes, in the spelling of IREE 3.12 and newer.
import type { Rendered } from '../rendered.ts';
import {
  stepOf,
  threadsOf,
  type GpuConfiguration,
  type MmaTileConfiguration,
  type SimtTileConfiguration,
} from './configuration.ts';

export const rendered = (c: GpuConfiguration, loops: readonly number[]): Rendered => ({
  lowering: loweringConfig(c, loops),
  translation: translationInfo(c),
});

/** Entries are in the compiler's order. */
function loweringConfig(c: GpuConfiguration, loops: readonly number[]): string {
  const order = loopsOf(c, loops);
  const list = (tiles: readonly number[]) => `[${order.map((d) => tiles[d]!).join(', ')}]`;
  const basis = (counts: readonly number[]) =>
    `[[${order.map((d) => counts[d] || 1).join(', ')}], [${order.map((_, i) => i).join(', ')}]]`;
  const entries: string[] = [];
  if (c.kind === 'shared-sum')
    entries.push(
      `lane_basis = ${basis(c.lanes)}`,
      `partial_reduction = ${list(c.reduction)}`,
      `subgroup_basis = ${basis(c.subgroups)}`,
      `thread = ${list(c.thread)}`,
    );
  else {
    if (c.kind === 'mma-tile') entries.push(`mma_kind = #iree_gpu.mma_layout<${c.mma}>`);
    if (c.padded) entries.push(`padding = ${list(c.workgroup.map((tile, d) => tile || summedAtOnce(c, d)))}`);
    if (c.kind === 'mma-tile' || c.promoted) entries.push('promote_operands = [0, 1]');
    entries.push(`reduction = ${list(c.reduction)}`);
    entries.push(c.kind === 'mma-tile' ? `subgroup = ${list(c.subgroup)}` : `thread = ${list(c.thread)}`);
  }
  return `#iree_gpu.lowering_config<{${[...entries, `workgroup = ${list(c.workgroup)}`].join(', ')}}>`;
}

/** Elements of one step along a reduction dimension. Instructions run along the innermost reduction dimension. */
const summedAtOnce = (c: MmaTileConfiguration | SimtTileConfiguration, d: number): number =>
  c.reduction[d]! * (d === c.reduction.findLastIndex((tile) => tile > 0) ? stepOf(c) : 1);

/** A product of patches has the loops of the result, and one loop for all reductions. */
function loopsOf(c: GpuConfiguration, loops: readonly number[]): readonly number[] {
  if (c.kind === 'shared-sum' || !c.igemm) return loops;
  return loops.filter((d) => c.workgroup[d] !== 0 || c.reduction[d] !== 0);
}

const PIPELINES: Readonly<Record<GpuConfiguration['kind'], string>> = {
  'mma-tile': 'TileAndFuse',
  'simt-tile': 'TileAndFuse',
  'shared-sum': 'VectorDistribute',
};

/** The pipeline with its options, and the threads. */
function translationInfo(c: GpuConfiguration): string {
  const isMma = c.kind === 'mma-tile';
  const options = [
    ...(isMma && c.prefetch !== undefined ? [`prefetch_num_stages = ${c.prefetch}`] : []),
    // Without matrix instructions bank padding costs more than it gains.
    `no_reduce_shared_memory_bank_conflicts = ${isMma ? !c.bankPadding : c.kind === 'simt-tile'}`,
    `use_igemm_convolution = ${c.kind !== 'shared-sum' && c.igemm}`,
  ].join(', ');
  const waves =
    isMma && c.wavesPerEu !== undefined
      ? `, llvm_func_attrs = {"amdgpu-waves-per-eu" = "${c.wavesPerEu}"}`
      : '';
  return (
    `#iree_codegen.translation_info<pipeline = #iree_gpu.pipeline<${PIPELINES[c.kind]}> workgroup_size = [${threadsOf(c)}, 1, 1] ` +
    `subgroup_size = ${c.subgroupSize}, {gpu_pipeline_options = #iree_gpu.pipeline_options<${options}>${waves}}>`
  );
}
