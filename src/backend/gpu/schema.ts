// Checks configurations of GPUs from JSON, with all keys.
import { hasKeys, isIntegerWithin, isObject } from '../../system/data.ts';
import { isConsistent, LARGEST_TILE, threadsOf, type GpuConfiguration } from './configuration.ts';
import { readMma } from './target.ts';

/** Most threads in a workgroup of any GPU. */
const MOST_THREADS = 1024;

const COMMON = ['version', 'kind', 'subgroupSize', 'workgroup', 'reduction'];
const FLAGS = ['padded', 'igemm'];

const SHAPES: Readonly<
  Record<
    GpuConfiguration['kind'],
    {
      readonly levels: readonly string[];
      readonly flags: readonly string[];
      readonly optional: readonly string[];
    }
  >
> = {
  'mma-tile': {
    levels: ['subgroup', 'subgroups'],
    flags: [...FLAGS, 'bankPadding'],
    optional: ['prefetch', 'wavesPerEu'],
  },
  'simt-tile': { levels: ['thread'], flags: [...FLAGS, 'promoted'], optional: [] },
  'shared-sum': { levels: ['thread', 'lanes', 'subgroups'], flags: [], optional: [] },
};

/** @param rank number of the workload's dimensions, if known; every tile level must have that many entries */
export function isGpuConfiguration(value: object, rank?: number): value is GpuConfiguration {
  if (!isObject(value) || value['version'] !== 1) return false;
  const { kind, mma, workgroup } = value;
  if (typeof kind !== 'string' || !Object.hasOwn(SHAPES, kind)) return false;
  const { levels, flags, optional } = SHAPES[kind as GpuConfiguration['kind']];
  const own = kind === 'mma-tile' ? ['mma'] : [];
  const length = rank ?? (Array.isArray(workgroup) ? workgroup.length : 0);
  return (
    hasKeys(value, [...COMMON, ...own, ...levels, ...flags], optional) &&
    // The name becomes MLIR text.
    (own.length === 0 || (typeof mma === 'string' && mma.length <= 64 && readMma(mma) !== null)) &&
    flags.every((name) => typeof value[name] === 'boolean') &&
    isIntegerWithin(value['subgroupSize'], 1, MOST_THREADS) &&
    optional.every((name) => !(name in value) || isIntegerWithin(value[name], 0, 16)) &&
    length > 0 &&
    ['workgroup', 'reduction', ...levels].every((name) => areTiles(value[name], length)) &&
    isConsistent(value as unknown as GpuConfiguration) &&
    threadsOf(value as unknown as GpuConfiguration) <= MOST_THREADS
  );
}

const areTiles = (value: unknown, length: number): boolean =>
  Array.isArray(value) &&
  value.length === length &&
  value.every((size) => isIntegerWithin(size, 0, LARGEST_TILE));
