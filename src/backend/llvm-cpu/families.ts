// Which kinds of configurations a search can choose from.
import { isOperationWork, type OperationWork, type Workload } from '../../workload/workload.ts';
import type { SpaceOptions } from '../backend.ts';
import { DATA_TILE_CONFIGURATION, type LlvmCpuConfiguration } from './configuration.ts';

/**
 * Families of a workload, sorted; none where a user allows some values only. Tiles of packed operations are no family of
 * their own: target and compiler, which every record names, decide whether data tiling comes with them.
 */
export function familiesOf(
  workload: Workload,
  { wholeProgram, only }: Pick<SpaceOptions, 'wholeProgram' | 'only'>,
): readonly LlvmCpuConfiguration['kind'][] {
  if (only !== undefined) return [];
  if (!isOperationWork(workload)) return ['dispatch-tile'];
  if (workload.windows !== undefined) return hasChannelsInnermost(workload) ? ['window-tile'] : [];
  return wholeProgram && isDataTilable(workload) ? ['data-tile', 'tile'] : ['tile'];
}

/** The pipeline for convolutions takes no others. */
const hasChannelsInnermost = ({ accumulator, windows = [] }: OperationWork): boolean =>
  windows.every(([along]) => along !== accumulator.dimensions.at(-1));

/**
 * Data tiling, for what the compiler packs. Between two packed operations it leaves things packed, and weights are packed when
 * they are loaded: none of that shows in one operation alone.
 */
export const programWide = (
  workload: Workload,
  { wholeProgram }: Pick<SpaceOptions, 'wholeProgram'>,
): LlvmCpuConfiguration | null => {
  if (!wholeProgram || !isOperationWork(workload)) return null;
  const { context, ...alone } = workload;
  return context?.dispatch?.isStrided !== true && isDataTilable(alone) ? DATA_TILE_CONFIGURATION : null;
};

/**
 * The compiler packs contractions with at most one dimension of each kind, and at least m or n beside k. Not inside a dispatch:
 * it has made its choice by then.
 */
export function isDataTilable({ dimensions, context, windows }: OperationWork): boolean {
  if (context !== undefined || windows !== undefined) return false;
  const kinds = dimensions.map(({ kind }) => kind);
  return new Set(kinds).size === kinds.length && (kinds.includes('m') || kinds.includes('n'));
}
