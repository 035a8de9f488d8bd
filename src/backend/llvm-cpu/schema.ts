// Checks configurations of llvm-cpu from JSON, with all keys.
import { hasKeys, isIntegerWithin, isObject } from '../../system/data.ts';
import { LARGEST_TILE, type LlvmCpuConfiguration } from './configuration.ts';

const REQUIRED_LEVELS = ['distribution', 'vectorCommonParallel', 'vectorReduction'];
const DISPATCH_LEVELS = ['distribution', 'vector'];
const OPTIONAL_LEVELS = ['cacheParallel', 'cacheReduction', 'vectorInnerParallel'];

/** @param rank number of the workload's dimensions, if known; every tile level must have that many entries */
export function isLlvmCpuConfiguration(value: object, rank?: number): value is LlvmCpuConfiguration {
  if (!isObject(value) || value['version'] !== 1) return false;
  switch (value['kind']) {
    case 'data-tile':
      return (
        hasKeys(value, ['version', 'kind'], ['packed']) &&
        (!('packed' in value) || arePackedTiles(value['packed'], rank))
      );
    case 'window-tile':
      return hasKeys(value, ['version', 'kind', ...REQUIRED_LEVELS]) && areLevels(value, rank);
    case 'dispatch-tile':
      return (
        hasKeys(value, ['version', 'kind', ...DISPATCH_LEVELS]) && areLevels(value, rank, DISPATCH_LEVELS)
      );
    case 'tile':
      return (
        hasKeys(value, ['version', 'kind', 'peeling', ...REQUIRED_LEVELS], OPTIONAL_LEVELS) &&
        typeof value['peeling'] === 'boolean' &&
        areLevels(value, rank)
      );
    default:
      return false;
  }
}

function areLevels(
  tile: Record<string, unknown>,
  rank: number | undefined,
  required: readonly string[] = REQUIRED_LEVELS,
): boolean {
  const levels = [...required, ...OPTIONAL_LEVELS.filter((name) => name in tile)].map((name) => tile[name]);
  const first = levels[0];
  const length = rank ?? (Array.isArray(first) ? first.length : 0);
  return levels.every(
    (level) =>
      Array.isArray(level) &&
      level.length === length &&
      level.length > 0 &&
      level.every((size) => isIntegerWithin(size, 0, LARGEST_TILE)),
  );
}

/** Only workloads of one m, one n and one k have packed tiles. */
function arePackedTiles(value: unknown, rank: number | undefined): boolean {
  if (!isObject(value) || !hasKeys(value, ['inner', 'swapped'], ['distribution', 'packing'])) return false;
  const areTiles = (tiles: unknown, length: number) =>
    Array.isArray(tiles) &&
    tiles.length === length &&
    tiles.every((size) => isIntegerWithin(size, 1, LARGEST_TILE));
  return (
    (rank ?? 3) === 3 &&
    typeof value['swapped'] === 'boolean' &&
    areTiles(value['inner'], 3) &&
    ['distribution', 'packing'].every((level) => !(level in value) || areTiles(value[level], 2))
  );
}
