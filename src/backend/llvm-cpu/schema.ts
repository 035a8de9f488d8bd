// The schema of llvm-cpu's configurations.
import { hasKeys, isBoolean, isObject } from '../../system/data.ts';
import { isLevel, type Schema } from '../schema.ts';
import type { Field } from './configuration.ts';

const LEVELS = ['distribution', 'vectorCommonParallel', 'vectorReduction'];

/** Whether a value is some tiles of a packed operation. */
const isPackedLevel = (value: unknown, count: number): boolean =>
  isLevel(value, count) && (value as number[]).every((tile) => tile > 0);

/** Only workloads of one m, one n and one k have packed tiles. */
const arePackedTiles = (value: unknown, rank = 3): boolean =>
  rank === 3 &&
  isObject(value) &&
  hasKeys(value, ['inner', 'swapped'], ['distribution', 'packing']) &&
  isPackedLevel(value['inner'], 3) &&
  isBoolean(value['swapped']) &&
  ['distribution', 'packing'].every((level) => !(level in value) || isPackedLevel(value[level], 2));

const inPacked = () => false;

export const SCHEMA: Schema = {
  kinds: {
    'data-tile': { required: [], optional: ['packed'] },
    'dispatch-tile': { required: ['distribution', 'vector'] },
    tile: {
      required: [...LEVELS, 'peeling'],
      optional: ['cacheParallel', 'cacheReduction', 'vectorInnerParallel'],
    },
    'window-tile': { required: LEVELS },
  },
  checks: {
    ...{ packed: arePackedTiles, inner: inPacked, swapped: inPacked, distribution: isLevel },
    ...{ cacheParallel: isLevel, cacheReduction: isLevel, vectorCommonParallel: isLevel },
    ...{ vectorReduction: isLevel, vectorInnerParallel: isLevel, vector: isLevel },
    ...{ peeling: isBoolean, packing: inPacked },
  } satisfies Readonly<Record<Field, unknown>>,
  labels: {
    ...{
      inner: 'inner',
      swapped: 'swapped',
      distribution: 'dist',
      cacheParallel: 'cp',
      cacheReduction: 'cr',
    },
    ...{ vectorCommonParallel: 'vcp', vectorReduction: 'vr', vectorInnerParallel: 'vip', vector: 'vector' },
    ...{ peeling: 'peel', packing: 'pack' },
  } satisfies Readonly<Record<Exclude<Field, 'packed'>, string>>,
};
