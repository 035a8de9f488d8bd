// Candidates for GPUs, compiled as a search compiles them. No GPU is needed.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cuda } from '../../../src/backend/cuda/index.ts';
import { configuredOperations, type ConfiguredOperation } from '../../../src/backend/dumps.ts';
import type { Backend } from '../../../src/backend/backend.ts';
import type { Configuration } from '../../../src/backend/configuration.ts';
import { addBackend } from '../../../src/backend/index.ts';
import { rocm } from '../../../src/backend/rocm/index.ts';
import { vulkan } from '../../../src/backend/vulkan/index.ts';
import { buildCandidates } from '../../../src/measure/build.ts';
import { candidateOf } from '../../../src/measure/candidate-module.ts';
import type { Toolchain } from '../../../src/measure/toolchain.ts';
import type { OperationWork } from '../../../src/workload/workload.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { compiler, toolchain } from '../../support/real-tools.ts';

/** Flags for each GPU. */
export const TARGET_FLAGS: Readonly<Record<string, readonly string[]>> = {
  sm_80: ['--iree-hal-target-device=cuda', '--iree-cuda-target=sm_80'],
  sm_89: ['--iree-hal-target-device=cuda', '--iree-cuda-target=sm_89'],
  sm_120: [
    '--iree-hal-target-device=cuda',
    '--iree-cuda-target=sm_120',
    '--iree-cuda-target-features=+ptx87',
  ],
  ...Object.fromEntries(
    ['gfx942', 'gfx950', 'gfx1100'].map((name) => [
      name,
      ['--iree-hal-target-device=hip', `--iree-rocm-target=${name}`],
    ]),
  ),
  ...Object.fromEntries(
    ['ampere', 'rdna3', 'llvmpipe'].map((name) => [
      name,
      ['--iree-hal-target-device=vulkan', `--iree-vulkan-target=${name}`],
    ]),
  ),
};

export const backendOf = (target: string): Backend =>
  target.startsWith('sm_') ? cuda : target.startsWith('gfx') ? rocm : vulkan;

for (const backend of [cuda, rocm, vulkan]) addBackend(backend);

async function toolchainFor(target: string, flags: readonly string[]): Promise<Toolchain> {
  const backend = backendOf(target);
  const workDirectory = temporaryDirectory();
  return {
    ...(await toolchain(workDirectory)),
    compiler: compiler.executable,
    flags: [...TARGET_FLAGS[target]!, ...flags],
    device: { model: target, driver: backend.drivers[0], threads: 1, cachesKiB: [] },
  };
}

export interface Compiled {
  /** Reasons of the compiler by candidate: `c0` is the first configuration. */
  readonly refused: ReadonlyMap<string, string>;
  /** Operations of the compiler's dumps, for each configuration in order; empty for a refused candidate. */
  readonly operations: readonly (readonly ConfiguredOperation[])[];
}

/** Compiles candidates of one workload to machine code. */
export async function compileAll(
  target: string,
  workload: OperationWork,
  configurations: readonly Configuration[],
): Promise<Compiled> {
  const dumps = temporaryDirectory();
  const tools = await toolchainFor(target, [`--iree-hal-dump-executable-configurations-to=${dumps}`]);
  const candidates = configurations.map((one, i) => candidateOf(`c${i}`, one, workload, tools.release));
  // Without the default: the compiler rejects its own default for products in f16 on gfx942 (IREE 3.13.0).
  const { refused } = await buildCandidates(tools, workload, candidates, 'all');
  const files = readdirSync(dumps);
  const operations = candidates.map(({ name }) =>
    files
      .filter((file) => new RegExp(`_(?:x_${name}|${name}_dispatch_\\d+)[_.]`).test(file))
      .flatMap((file) => configuredOperations(readFileSync(join(dumps, file)))),
  );
  return { refused, operations };
}
