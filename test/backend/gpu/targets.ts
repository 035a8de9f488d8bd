// GPU descriptions of IREE 3.13.0: the first of each file in `targets/`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SpaceOptions } from '../../../src/backend/backend.ts';
import type { Problem } from '../../../src/backend/gpu/legality.ts';
import { rolesOf } from '../../../src/backend/gpu/roles.ts';
import { readGpuTarget, type GpuTarget } from '../../../src/backend/gpu/target.ts';
import type { OperationWork } from '../../../src/workload/workload.ts';

/** The attribute of the GPU `name`, such as `sm_80`. */
const gpuTargetText = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'targets', `${name}.txt`), 'utf8');

/** The GPU `name`. */
export const gpuTarget = (name: string): GpuTarget => readGpuTarget(Buffer.from(gpuTargetText(name)))!;

/** Options of a search for the GPU `name`, whose programs get no other changes than configurations. */
export const gpuOptions = (name: string): SpaceOptions => ({
  ...{ nativeVectorBytes: 0, vectorRegisters: 0, threads: 1, gpu: gpuTargetText(name) },
  ...{ wholeProgram: false, following: false },
});

/** A workload that the pipelines support, on the GPU `name`. */
export const problemOf = (workload: OperationWork, name: string): Problem => ({
  ...{ workload, roles: rolesOf(workload)!, target: gpuTarget(name) },
});
