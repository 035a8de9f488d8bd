// CPUs of other architectures than most build machines have.
import { llvmCpu } from '../../../src/backend/llvm-cpu/index.ts';
import type { Hardware } from '../../../src/backend/backend.ts';
import { probeTargets } from '../../../src/site/probe.ts';
import { temporaryDirectory } from '../../support/folders.ts';
import { compiler } from '../../support/installed-tools.ts';
import type { CompiledFor } from '../compile-all.ts';

const CPUS: Readonly<Record<string, string>> = {
  // Vectors of 16 bytes, with dot products of bytes.
  'cortex-a55': 'aarch64-linux-gnu',
  'neoverse-n1': 'aarch64-linux-gnu',
  // Also scalable vectors, products of matrices of bytes, and bf16.
  'neoverse-v1': 'aarch64-linux-gnu',
  'apple-m1': 'arm64-apple-macosx14',
  // Vectors of 32 bytes.
  'spacemit-x60': 'riscv64-linux-gnu',
};

export const CPU_NAMES = Object.keys(CPUS);

export const cpuTarget = (name: string): CompiledFor => ({
  ...{ name, backend: llvmCpu },
  flags: [
    '--iree-hal-target-device=local',
    '--iree-hal-local-target-device-backends=llvm-cpu',
    `--iree-llvmcpu-target-triple=${CPUS[name]!}`,
    `--iree-llvmcpu-target-cpu=${name}`,
  ],
});

/** The hardware of a target, on one thread. */
export async function hardwareFor({ name, flags }: CompiledFor): Promise<Hardware> {
  const { targets } = await probeTargets(compiler.executable, flags, [], name, temporaryDirectory());
  const device = { model: name, driver: 'local-sync', threads: 1, cachesKiB: [] };
  return llvmCpu.devices.hardwareOf(targets[0]!.target, device);
}
