// The target: what code is generated for, as the compiler itself expands it. Pure; `site/probe.ts` asks the compiler.

export interface Target {
  /** IREE's target backend, such as `llvm-cpu` or `cuda`. */
  readonly backend: string;
  readonly triple: string;
  /** CPU or GPU name after `host` has been expanded; empty for the generic one. */
  readonly cpu: string;
  /** Enabled features without their `+`, sorted. */
  readonly features: readonly string[];
  /** Widest vector register in bytes; 0 where the backend does not say. */
  readonly nativeVectorBytes: number;
  /** The compiler's `#iree_gpu.target<...>` as text: limits, subgroup sizes and matrix instructions. Absent for CPUs. */
  readonly gpu?: string;
  /** Flags of the user that change the generated code, as given. */
  readonly flags: readonly string[];
}

/** Readable canonical key; features, flags and the text about a GPU are digested because they are long. */
export function targetKey(target: Target): string {
  // Loaded here because keys come from the cache on every run but the first, and loading it takes 5 ms.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const digest = (parts: readonly string[]) =>
    createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 10);
  const cpu = target.cpu === '' ? 'generic' : target.cpu;
  const flags = target.flags.length === 0 ? '' : ` flags=${digest(target.flags)}`;
  const features = target.gpu === undefined ? target.features : [target.gpu];
  return `${target.backend} ${target.triple} ${cpu} features=${digest(features)}${flags}`;
}

/** Architecture part of a triple in the spelling that Node's `process.arch` uses. */
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
