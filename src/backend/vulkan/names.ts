// The knobs of Vulkan configurations in tables.
import type { Workload } from '../../workload/workload.ts';
import type { KnobColumns } from '../backend.ts';
import { tileColumns } from '../gpu/names.ts';
import type { VulkanConfiguration } from './configuration.ts';
import { threadsOf } from './render.ts';

export function knobValues(workload: Workload, c: VulkanConfiguration): KnobColumns {
  const { workgroup, thread, reduction } = c;
  const isShared = c.kind !== 'spirv-tile';
  return {
    ...tileColumns(workload, reduction, { workgroup, threads: threadsOf(c), tile: thread }),
    pipeline_depth: isShared ? c.depth : null,
    store_stage: isShared ? c.storeStage : null,
    matrix: c.kind === 'spirv-cooperative',
  };
}
