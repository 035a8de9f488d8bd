// Sample measurements.
import type { OwnConfiguration } from '../../src/backend/configuration.ts';
import type { Measurement } from '../../src/compat/measurement.ts';
import { operationsOf } from '../../src/compat/operation.ts';
import type { OperationWork } from '../../src/workload/workload.ts';
import { matmul } from '../support/workloads.ts';

export const TILED: OwnConfiguration = {
  version: 1,
  kind: 'tile',
  distribution: [64, 32, 0],
  cacheReduction: [0, 0, 128],
  vectorCommonParallel: [8, 16, 0],
  vectorReduction: [0, 0, 4],
  peeling: true,
};

export const PACKED: OwnConfiguration = {
  version: 1,
  kind: 'data-tile',
  packed: { inner: [16, 16, 1], swapped: true, distribution: [4, 8] },
};

/** A measurement of one operation, with some fields replaced. */
export function measurement(
  workload: OperationWork = matmul(512, 512, 512),
  more: Partial<Measurement> = {},
): Measurement {
  return {
    operation: operationsOf([{ workload }], null)[0]!,
    workload,
    configuration: TILED,
    verification: 'SUCCESS',
    seconds: 0.000095,
    ...{ ratio: 1.25, low: 1.2, high: 1.3 },
    place: { target: 'llvm-cpu znver4', device: 'AMD, "EPYC" 4', compiler: '3.13.0@abc' },
    message: null,
    ...more,
  };
}
