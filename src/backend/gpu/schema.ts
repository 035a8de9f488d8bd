// The schema of GPU configurations.
import { isBoolean } from '../../system/data.ts';
import { isLevel, isWithin, type Schema } from '../schema.ts';
import {
  isConsistent,
  threadsOf,
  type AttentionConfiguration,
  type Field,
  type GpuConfiguration,
} from './configuration.ts';
import { readMma } from './target.ts';

/** Most threads in a workgroup of any GPU. */
const MOST_THREADS = 1024;

const COMMON = ['subgroupSize', 'workgroup', 'reduction'];
const FUSED = [...COMMON, 'padded', 'igemm'];

/** The name becomes MLIR text. */
const isMma = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= 64 && readMma(value) !== null;

export const SCHEMA: Schema = {
  kinds: {
    'attention-tile': { required: [...COMMON, 'subgroups'] },
    'mma-tile': {
      required: [...FUSED, 'mma', 'subgroup', 'subgroups', 'bankPadding'],
      optional: ['prefetch', 'wavesPerEu'],
    },
    'shared-sum': { required: [...COMMON, 'thread', 'lanes', 'subgroups'] },
    'simt-tile': { required: [...FUSED, 'thread', 'promoted'] },
  },
  checks: {
    ...{ mma: isMma, subgroupSize: isWithin(1, MOST_THREADS), workgroup: isLevel },
    ...{ subgroup: isLevel, subgroups: isLevel, thread: isLevel, lanes: isLevel, reduction: isLevel },
    ...{ promoted: isBoolean, padded: isBoolean, igemm: isBoolean, bankPadding: isBoolean },
    ...{ prefetch: isWithin(0, 16), wavesPerEu: isWithin(0, 16) },
  } satisfies Readonly<Record<Field, unknown>>,
  labels: {
    ...{ subgroupSize: 'sg', workgroup: 'wg', reduction: 'red', mma: 'mma', thread: 'thread' },
    ...{ lanes: 'lanes', subgroup: 'subgroup', subgroups: 'subgroups', promoted: 'promoted' },
    ...{ padded: 'padded', igemm: 'igemm', bankPadding: 'bank-padding' },
    ...{ prefetch: 'prefetch', wavesPerEu: 'waves' },
  } satisfies Readonly<Record<Field, string>>,
  isConsistent(configuration) {
    const own = configuration as GpuConfiguration | AttentionConfiguration;
    return isConsistent(own) && threadsOf(own) <= MOST_THREADS;
  },
};
