// A configuration as the attribute that carries it.
import type { Release } from '../../compiler/release.ts';
import type { Directive } from '../backend.ts';
import { compilationInfo } from '../compilation-info.ts';
import type { LlvmCpuConfiguration } from './configuration.ts';
import { DATA_TILING_HINT } from './data-tiling.ts';
import { rendered } from './render.ts';

/** The requirement of a configuration on the whole program; null for none. */
export const needsOf = ({ kind }: LlvmCpuConfiguration): string | null =>
  kind === 'data-tile' ? 'data tiling' : null;

/**
 * The attribute of one operation; null for a configuration of several operations.
 * @param loops for each loop of the operation, outermost first, the index of the workload's dimension it runs over
 */
export function directive(
  configuration: LlvmCpuConfiguration,
  loops: readonly number[],
  release: Release,
): Directive | null {
  switch (configuration.kind) {
    case 'tile':
    case 'window-tile':
      return compilationInfo(rendered(configuration, loops, release));
    case 'data-tile':
      return { attribute: DATA_TILING_HINT, value: 'unit' };
    case 'dispatch-tile':
      return null;
  }
}
