// Checks configurations of Vulkan from JSON, with all keys.
import { hasKeys, isIntegerWithin, isObject } from '../../system/data.ts';
import { LARGEST_TILE, type VulkanConfiguration } from './configuration.ts';

const LEVELS = ['workgroup', 'thread', 'reduction'];

/** @param rank number of the workload's dimensions, if known; every level must have that many entries */
export function isVulkanConfiguration(value: object, rank?: number): value is VulkanConfiguration {
  if (!isObject(value) || value['version'] !== 1 || value['kind'] !== 'spirv-tile') return false;
  const { workgroup } = value;
  const length = rank ?? (Array.isArray(workgroup) ? workgroup.length : 0);
  const levels = 'window' in value ? [...LEVELS, 'window'] : LEVELS;
  return (
    hasKeys(value, ['version', 'kind', ...LEVELS], ['window']) &&
    levels.every((name) => areTiles(value[name], length))
  );
}

const areTiles = (tiles: unknown, length: number): boolean =>
  Array.isArray(tiles) &&
  tiles.length === length &&
  length > 0 &&
  tiles.every((size) => isIntegerWithin(size, 0, LARGEST_TILE));
