// The target of code generation, as the compiler expands it. Pure; `site/probe.ts` asks the compiler.
import { sha256 } from '../system/hash.ts';

export interface Target {
  /** IREE's target backend, such as `llvm-cpu` or `cuda`. */
  readonly backend: string;
  readonly triple: string;
  /** CPU or GPU name after the expansion of `host`; empty for a generic CPU. */
  readonly cpu: string;
  /** Enabled features without their `+`, sorted. */
  readonly features: readonly string[];
  /** Width of the widest vector register in bytes; 0 if unknown. */
  readonly nativeVectorBytes: number;
  /** The compiler's `#iree_gpu.target<...>` as text: limits, subgroup sizes and matrix instructions. Absent for CPUs. */
  readonly gpu?: string;
  /** The user's flags that change the generated code. */
  readonly flags: readonly string[];
}

/** Readable canonical key, with digests of features, flags and the GPU's text. */
export function targetKey(target: Target): string {
  const digest = (parts: readonly string[]) => sha256(parts.join('\n')).slice(0, 10);
  const cpu = target.cpu === '' ? 'generic' : target.cpu;
  const flags = target.flags.length === 0 ? '' : ` flags=${digest(target.flags)}`;
  const features = target.gpu === undefined ? target.features : [target.gpu];
  return `${target.backend} ${target.triple} ${cpu} features=${digest(features)}${flags}`;
}

/** Architecture of a triple in the spelling of Node's `process.arch`. */
export function targetArchitecture(target: Target): string {
  const name = target.triple.split('-')[0] ?? '';
  const names: Readonly<Record<string, string>> = {
    x86_64: 'x64',
    aarch64: 'arm64',
    arm64: 'arm64',
    i386: 'ia32',
  };
  return names[name] ?? name;
}
