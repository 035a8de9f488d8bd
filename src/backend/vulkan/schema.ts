// Checks configurations of Vulkan from JSON, with all keys.
import { hasKeys, isIntegerWithin, isObject } from '../../system/data.ts';
import { LARGEST_TILE, type VulkanConfiguration } from './configuration.ts';

const COMMON = ['version', 'kind', 'workgroup', 'thread', 'reduction'];
const SHARED = ['depth', 'storeStage'];

/** Keys beside the common ones. */
const SHAPES: Readonly<
  Record<
    VulkanConfiguration['kind'],
    { readonly needed: readonly string[]; readonly optional: readonly string[] }
  >
> = {
  'spirv-tile': { needed: [], optional: ['window'] },
  'spirv-promoted': { needed: SHARED, optional: [] },
  'spirv-cooperative': { needed: [...SHARED, 'native', 'subgroupSize'], optional: [] },
};

/** Keys with one integer, and their largest values. */
const MOST: Readonly<Record<string, number>> = { depth: 8, storeStage: 1, subgroupSize: 128 };

/** @param rank number of the workload's dimensions, if known; every level must have that many entries */
export function isVulkanConfiguration(value: object, rank?: number): value is VulkanConfiguration {
  if (!isObject(value) || value['version'] !== 1) return false;
  const { kind, workgroup } = value;
  if (typeof kind !== 'string' || !Object.hasOwn(SHAPES, kind)) return false;
  const { needed, optional } = SHAPES[kind as VulkanConfiguration['kind']];
  const length = rank ?? (Array.isArray(workgroup) ? workgroup.length : 0);
  return (
    hasKeys(value, [...COMMON, ...needed], optional) &&
    Object.entries(value).every(([key, one]) =>
      key in MOST
        ? isIntegerWithin(one, key === 'subgroupSize' ? 1 : 0, MOST[key]!)
        : key === 'version' || key === 'kind' || areTiles(one, length),
    )
  );
}

const areTiles = (tiles: unknown, length: number): boolean =>
  Array.isArray(tiles) &&
  tiles.length === length &&
  length > 0 &&
  tiles.every((size) => isIntegerWithin(size, 0, LARGEST_TILE));
