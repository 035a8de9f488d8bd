// Lock files of synthetic programs.
import type { LockedProgram, LockedWorkload } from '../../../src/decision/lock/lock.ts';
import { TILE } from '../../store/samples.ts';
import { keyOfMatmul } from '../../support/inspected.ts';

export const RECORD = {
  kind: 'record',
  configuration: TILE,
  speedup: { ratio: 1.83, low: 1.79, high: 1.88 },
} as const satisfies LockedWorkload;

export const DEFAULT_RECORD = {
  kind: 'record',
  configuration: { version: 1, kind: 'default' },
  speedup: { ratio: 1, low: 1, high: 1 },
} as const satisfies LockedWorkload;

export const LEFT_OUT = {
  kind: 'left-out',
  configuration: TILE,
  because: 'its configuration makes this program worse',
} as const satisfies LockedWorkload;

export const UNKNOWN = { kind: 'unknown', because: 'there was no record' } as const satisfies LockedWorkload;

/** A program with a matmul of 8 x 512 x 512 that has a record. */
export const programOf = (change: Partial<LockedProgram> = {}): LockedProgram => ({
  program: 'models/a.mlir',
  digest: '0'.repeat(32),
  compiler: '3.13.0@cccccccccc',
  target: 'llvm-cpu x86_64-unknown-linux-gnu znver4 features=0123456789',
  flags: ['--iree-llvmcpu-target-cpu=host'],
  inject: 'auto',
  dim: '',
  forms: new Map(),
  route: 'spec',
  surveyed: false,
  workloads: new Map<string, LockedWorkload>([[keyOfMatmul(8, 512, 512), RECORD]]),
  ...change,
});
