// What profilers and tables call a configuration of Vulkan.
import type { Workload } from '../../workload/workload.ts';
import type { ConfigurationNames, KnobColumns } from '../backend.ts';
import type { VulkanConfiguration } from './configuration.ts';
import { threadsOf } from './render.ts';

/** Tiles along every dimension; of what is summed in the last ones. */
export function namesOf(_: Workload, configuration: VulkanConfiguration): ConfigurationNames {
  const { kind, workgroup, reduction } = configuration;
  const tiles = workgroup.map((tile, d) => tile || reduction[d]!).join('x');
  const vectors =
    kind === 'spirv-tile'
      ? configuration.thread.filter((tile) => tile > 0).join('x')
      : kind === 'spirv-matrix'
        ? configuration.matrix.join('x')
        : threadsOf(configuration).join('x');
  return { tiles, vectors, core: kind === 'spirv-matrix' ? 'matrix' : 'simt', instruction: kind };
}

/** Columns for each dimension of the workload, by its kind and number. */
export function knobValues({ dimensions }: Workload, configuration: VulkanConfiguration): KnobColumns {
  const { kind: own, workgroup, reduction } = configuration;
  const threads = threadsOf(configuration);
  return Object.fromEntries(
    dimensions.flatMap(({ kind }, d) => {
      const tile = own === 'spirv-tile' ? configuration.thread[d]! : null;
      return kind === 'k'
        ? [[`summed_${kind}${d}`, reduction[d]!]]
        : [
            [`workgroup_${kind}${d}`, workgroup[d]!],
            [`threads_${kind}${d}`, threads[d]!],
            [`tile_${kind}${d}`, tile],
          ];
    }),
  );
}
