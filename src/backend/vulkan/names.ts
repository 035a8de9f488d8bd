// The knobs of Vulkan configurations in tables.
import type { Workload } from '../../workload/workload.ts';
import type { KnobColumns } from '../backend.ts';
import type { VulkanConfiguration } from './configuration.ts';
import { threadsOf } from './render.ts';

/** Columns for each dimension of the workload, by kind and number. */
export function knobValues({ dimensions }: Workload, configuration: VulkanConfiguration): KnobColumns {
  const { workgroup, thread, reduction } = configuration;
  const threads = threadsOf(configuration);
  const columns = dimensions.flatMap(({ kind }, d): [string, number][] =>
    kind === 'k'
      ? [[`summed_${kind}${d}`, reduction[d]!]]
      : [
          [`workgroup_${kind}${d}`, workgroup[d]!],
          [`threads_${kind}${d}`, threads[d]!],
          [`tile_${kind}${d}`, thread[d]!],
        ],
  );
  const isShared = configuration.kind !== 'spirv-tile';
  return {
    ...Object.fromEntries(columns),
    pipeline_depth: isShared ? configuration.depth : null,
    store_stage: isShared ? configuration.storeStage : null,
    matrix: configuration.kind === 'spirv-cooperative',
  };
}
