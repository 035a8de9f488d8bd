// A configuration as the attribute that carries it.
import type { Configuration } from '../space/configuration.ts';
import { compilationInfo, type Release } from '../space/render.ts';
import { DATA_TILING_HINT } from './preprocess.ts';
import type { Workload } from '../workload/workload.ts';

/** `name = value` for an operation whose loops run in the order of the workload's dimensions; null for the default. */
export function loweringAttribute(
  configuration: Configuration,
  workload: Workload,
  release: Release,
): string | null {
  const loops = workload.dimensions.map((_, i) => i);
  return injectedAttribute(configuration, loops, release);
}

/** The same for an operation with its own order of `loops`: the index of the dimension that each loop runs over. */
export function injectedAttribute(
  configuration: Configuration,
  loops: readonly number[],
  release: Release,
): string | null {
  switch (configuration.kind) {
    case 'default':
      return null;
    case 'tile':
      return `compilation_info = ${compilationInfo(configuration, loops, release)}`;
    case 'data-tile':
      return DATA_TILING_HINT;
  }
}
