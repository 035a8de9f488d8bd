// Configurations of Vulkan as JSON, checked down to the last key.
import { hasKeys, isIntegerWithin, isObject } from '../../system/data.ts';
import { LARGEST_TILE, type VulkanConfiguration } from './configuration.ts';

const COMMON = ['version', 'kind', 'workgroup', 'reduction'];

/** `rank` is the workload's number of dimensions, where it is known: every level must have that many entries. */
export function isVulkanConfiguration(value: object, rank?: number): value is VulkanConfiguration {
  if (!isObject(value) || value['version'] !== 1) return false;
  const { workgroup, depth, storeStage, subgroupSize } = value;
  const length = rank ?? (Array.isArray(workgroup) ? workgroup.length : 0);
  const areLevels = (...names: readonly string[]) =>
    ['workgroup', 'reduction', ...names].every((name) => areTiles(value[name], length));
  switch (value['kind']) {
    case 'spirv-tile':
      return (
        hasKeys(value, [...COMMON, 'thread'], ['window']) &&
        areLevels('thread', ...('window' in value ? ['window'] : []))
      );
    case 'spirv-promote':
      return (
        hasKeys(value, [...COMMON, 'threads', 'depth', 'storeStage']) &&
        areLevels('threads') &&
        isIntegerWithin(depth, 1, 2) &&
        isIntegerWithin(storeStage, 0, 1)
      );
    case 'spirv-matrix':
      return (
        hasKeys(value, [...COMMON, 'subgroup', 'matrix', 'subgroupSize', 'storeStage']) &&
        areLevels('subgroup', 'matrix') &&
        isIntegerWithin(subgroupSize, 1, 1024) &&
        isIntegerWithin(storeStage, 0, 1)
      );
    default:
      return false;
  }
}

const areTiles = (tiles: unknown, length: number): boolean =>
  Array.isArray(tiles) &&
  tiles.length === length &&
  length > 0 &&
  tiles.every((size) => isIntegerWithin(size, 0, LARGEST_TILE));
