// Names of Vulkan configurations in profilers and tables.
import type { Workload } from '../../workload/workload.ts';
import type { ConfigurationNames, KnobColumns } from '../backend.ts';
import type { VulkanConfiguration } from './configuration.ts';
import { threadsOf } from './render.ts';

/** Workgroup tiles along parallel dimensions, and steps along reduction dimensions. */
export function namesOf(_: Workload, configuration: VulkanConfiguration): ConfigurationNames {
  const { kind, workgroup, thread, reduction } = configuration;
  const tiles = workgroup.map((tile, d) => tile || reduction[d]!).join('x');
  const vectors = thread.filter((tile) => tile > 0).join('x');
  return { tiles, vectors, core: 'simt', instruction: kind };
}

/** Columns for each dimension of the workload, by kind and number. */
export function knobValues({ dimensions }: Workload, configuration: VulkanConfiguration): KnobColumns {
  const { workgroup, thread, reduction } = configuration;
  const threads = threadsOf(configuration);
  return Object.fromEntries(
    dimensions.flatMap(({ kind }, d) =>
      kind === 'k'
        ? [[`summed_${kind}${d}`, reduction[d]!]]
        : [
            [`workgroup_${kind}${d}`, workgroup[d]!],
            [`threads_${kind}${d}`, threads[d]!],
            [`tile_${kind}${d}`, thread[d]!],
          ],
    ),
  );
}
