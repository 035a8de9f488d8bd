// GPUs as IREE 3.13.0 describes them: the first of each file below `targets/`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readGpuTarget, type GpuTarget } from '../../../src/backend/gpu/target.ts';

/** The attribute that describes the GPU called `name`, such as `sm_80`. */
export const gpuTargetText = (name: string): string =>
  readFileSync(join(import.meta.dirname, 'targets', `${name}.txt`), 'utf8');

/** The same, read. */
export const gpuTarget = (name: string): GpuTarget => readGpuTarget(Buffer.from(gpuTargetText(name)))!;
