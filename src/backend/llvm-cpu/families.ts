// The kinds of configurations that a search can choose from.
import { isOperationWork, type OperationWork, type Workload } from '../../workload/workload.ts';
import type { SpaceOptions } from '../backend.ts';
import { DATA_TILE_CONFIGURATION, type LlvmCpuConfiguration } from './configuration.ts';

/** See `Tuning`. The pipeline for convolutions takes no other layout. */
export const unsupported = (workload: OperationWork): string | null =>
  workload.windows?.some(([along]) => along === workload.accumulator.dimensions.at(-1)) === true
    ? 'convolutions with the channels first'
    : null;

/**
 * Families of a workload, sorted; none if a user restricts knobs. Tiles of packed operations are no family of their own, because target
 * and compiler decide whether data tiling has them, and every record names both.
 */
export function familiesOf(
  workload: OperationWork,
  { wholeProgram, only }: Pick<SpaceOptions, 'wholeProgram' | 'only'>,
): readonly LlvmCpuConfiguration['kind'][] {
  if (only !== undefined || unsupported(workload) !== null) return [];
  if (workload.windows !== undefined) return ['window-tile'];
  return wholeProgram && isDataTilable(workload) ? ['data-tile', 'tile'] : ['tile'];
}

/**
 * Data tiling for workloads that the compiler packs. A measurement of one operation does not show two gains: the compiler keeps operands
 * packed between two packed operations, and packs weights when the program is loaded.
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
 * The compiler packs contractions with at most one dimension of each kind, and at least m or n beside k. It does not pack a contraction of
 * a dispatch: packing comes before dispatches.
 */
export function isDataTilable({ dimensions, context, windows }: OperationWork): boolean {
  if (context !== undefined || windows !== undefined) return false;
  const kinds = dimensions.map(({ kind }) => kind);
  return new Set(kinds).size === kinds.length && (kinds.includes('m') || kinds.includes('n'));
}
