// The compiler's flags for another machine's processor, from the files that describe it. Its own `host` means the machine that compiles.
import { architecture, cpuFeatures, cpuNumbers } from '../../system/processor.ts';

/** LLVM's names of Arm's processors by part number. Source: Arm's technical reference manuals, register MIDR_EL1. */
const ARM_PARTS: Readonly<Record<number, string>> = {
  ...{ 0xd03: 'cortex-a53', 0xd05: 'cortex-a55', 0xd07: 'cortex-a57', 0xd08: 'cortex-a72' },
  ...{ 0xd09: 'cortex-a73', 0xd0a: 'cortex-a75', 0xd0b: 'cortex-a76', 0xd0c: 'neoverse-n1' },
  ...{ 0xd0d: 'cortex-a77', 0xd40: 'neoverse-v1', 0xd41: 'cortex-a78', 0xd44: 'cortex-x1' },
  ...{ 0xd46: 'cortex-a510', 0xd47: 'cortex-a710', 0xd48: 'cortex-x2', 0xd49: 'neoverse-n2' },
  ...{ 0xd4d: 'cortex-a715', 0xd4e: 'cortex-x3', 0xd4f: 'neoverse-v2', 0xd80: 'cortex-a520' },
  ...{ 0xd81: 'cortex-a720', 0xd82: 'cortex-x4' },
};

const ARM = '0x41';

/** Levels of x86-64 by Linux's names of features that tell them apart, the best first. */
const X86_LEVELS = [
  ['x86-64-v4', ['avx512f', 'avx512bw', 'avx512dq', 'avx512vl', 'avx512cd']],
  ['x86-64-v3', ['avx2', 'fma', 'f16c', 'bmi2']],
  ['x86-64-v2', ['sse4_2', 'popcnt']],
] as const;

/** @param root folder of the machine's files: see `processor.ts`. @returns null for an architecture without advice */
export function flagsFor(root: string): readonly string[] | null {
  const has = new Set(cpuFeatures(root).split(' '));
  const flags = (triple: string, ...more: readonly string[]) => [
    `--iree-llvmcpu-target-triple=${triple}`,
    ...more.map((one) => `--iree-llvmcpu-target-${one}`),
  ];
  switch (architecture(root)) {
    case 'arm64': {
      const numbers = cpuNumbers(root);
      const name = numbers?.vendor === ARM ? ARM_PARTS[numbers.model] : undefined;
      return flags('aarch64-linux-gnu', `cpu=${name ?? 'generic'}`);
    }
    case 'x64': {
      const level = X86_LEVELS.find(([, features]) => features.every((one) => has.has(one)));
      return flags('x86_64-linux-gnu', `cpu=${level?.[0] ?? 'x86-64'}`);
    }
    case 'riscv64': {
      // Such as rv64imafdcv_zicsr.
      const letters = /^rv64([a-z]+)/.exec(cpuFeatures(root))?.[1] ?? 'imafdc';
      const known = Array.from('imafdcv').filter((letter) => letters.replace('g', 'imafd').includes(letter));
      return flags(
        'riscv64-linux-gnu',
        'cpu=generic-rv64',
        'abi=lp64d',
        `cpu-features=${known.map((one) => `+${one}`).join(',')}`,
      );
    }
    default:
      return null;
  }
}
