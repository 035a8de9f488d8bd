// Which kinds of configurations a search can choose from.
import type { Workload } from '../../workload/workload.ts';
import type { SpaceOptions } from '../backend.ts';
import type { LlvmCpuConfiguration } from './configuration.ts';

/**
 * Families of a workload, sorted. Tiles of packed operations are no family of their own: target and compiler, which every
 * record names, decide whether data tiling comes with them.
 */
export const familiesOf = (
  workload: Workload,
  { wholeProgram }: Pick<SpaceOptions, 'wholeProgram'>,
): readonly LlvmCpuConfiguration['kind'][] =>
  wholeProgram && isDataTilable(workload) ? ['data-tile', 'tile'] : ['tile'];

/** The compiler packs contractions with at most one dimension of each kind, and at least m or n beside k. */
export function isDataTilable({ dimensions }: Workload): boolean {
  const kinds = dimensions.map(({ kind }) => kind);
  return new Set(kinds).size === kinds.length && (kinds.includes('m') || kinds.includes('n'));
}
