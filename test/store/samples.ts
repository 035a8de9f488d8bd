// Sample values for tests and their child processes.
import type { TileConfiguration } from '../../src/backend/llvm-cpu/configuration.ts';
import type { Evidence, Run, Subject, Mark, Trial } from '../../src/store/store.ts';
import { workloadKey } from '../../src/workload/workload.ts';
import { matmul } from '../support/workloads.ts';

export const TILE: TileConfiguration = {
  version: 1,
  kind: 'tile',
  distribution: [64, 128, 0],
  vectorCommonParallel: [8, 32, 0],
  vectorReduction: [0, 0, 1],
  peeling: true,
};

export const EVIDENCE: Evidence = {
  ratio: 1.83,
  low: 1.79,
  high: 1.88,
  defaultSeconds: 0.00183,
  seconds: 0.001,
  processes: 5,
  repetitions: 60,
  noiseFloor: 0.01,
  maxError: 0,
  trials: 120,
  tuningSeconds: 42.5,
  families: ['data-tile', 'tile'],
  complete: true,
};

/** A record without its key. */
export const DECISION = {
  configuration: TILE,
  evidence: EVIDENCE,
  createdAt: '2026-01-31T08:00:00.000Z',
};

export const MARK: Mark = {
  configuration: TILE,
  kind: 'compile-error',
  reason: 'in.mlir:2:3: error: no such thing',
  createdAt: '2026-02-01T08:00:00.000Z',
};

export const TRIAL: Trial = {
  configuration: TILE,
  outcome: 'measured',
  seconds: 1,
  ratio: 1,
  message: null,
  strategy: 'grid',
};

export const RUN: Run = {
  configuration: TILE,
  stage: 'finals',
  batch: 3,
  placement: 'packed',
  build: 1,
  seconds: [0.001, 0.002],
  defaultSeconds: [0.002, 0.003],
};

/** A matmul of m x 512 x 512 on one target, device and compiler, with replacements. */
export function subjectOf(m: number, change: Partial<Subject> = {}): Subject {
  const workloadForm = matmul(m, 512, 512);
  return {
    workload: workloadKey(workloadForm),
    target: 'llvm-cpu x86_64',
    device: 'local-task 8 threads',
    compiler: 'iree 3.11.0',
    workloadForm,
    targetForm: { backend: 'llvm-cpu', features: ['avx2', 'fma'] },
    deviceForm: { driver: 'local-task', threads: 8 },
    compilerForm: { version: '3.11.0' },
    ...change,
  };
}

export const SUBJECT = subjectOf(512);
