// The schema of Vulkan configurations.
import { isLevel, isWithin, type Schema } from '../schema.ts';
import type { Field } from './configuration.ts';

const COMMON = ['workgroup', 'thread', 'reduction'];
const SHARED = [...COMMON, 'depth', 'storeStage'];

export const SCHEMA: Schema = {
  kinds: {
    'spirv-cooperative': { required: [...SHARED, 'native', 'subgroupSize'] },
    'spirv-promoted': { required: SHARED },
    'spirv-tile': { required: COMMON, optional: ['window'] },
  },
  checks: {
    ...{ workgroup: isLevel, thread: isLevel, reduction: isLevel, window: isLevel, native: isLevel },
    ...{ subgroupSize: isWithin(1, 128), depth: isWithin(0, 8), storeStage: isWithin(0, 1) },
  } satisfies Readonly<Record<Field, unknown>>,
  labels: {
    ...{ workgroup: 'wg', thread: 'thread', reduction: 'k', window: 'window' },
    ...{ depth: 'depth', storeStage: 'stage', native: 'native', subgroupSize: 'sg' },
  } satisfies Readonly<Record<Field, string>>,
};
