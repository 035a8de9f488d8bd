// Expands the target flags through the compiler, because only the compiler knows the meaning of `host`.
import { compilerIdentity } from '../compiler/identity.ts';
import { askCompiler } from '../compiler/ask.ts';
import { TARGETS } from '../system/cache.ts';
import { hasFields, isNumber, isText, listOf, optional, orNull } from '../system/data.ts';
import { memoryOf } from '../system/memory.ts';
import { targetKey, type Target } from '../backend/target.ts';

/** A target with its key, so that a hit does not hash a hundred features again. */
export interface ProbedTarget {
  readonly target: Target;
  readonly key: string;
}

/** Targets of the flags: one for each device, or none if only the module names them. */
export interface Probe {
  readonly targets: readonly ProbedTarget[];
  /** Why there is no target, such as the compiler's error; null if there is one. */
  readonly problem: string | null;
}

export const HOST_FLAGS: readonly string[] = [
  '--iree-hal-target-device=local',
  '--iree-hal-local-target-device-backends=llvm-cpu',
  '--iree-llvmcpu-target-cpu=host',
];

/**
 * Expands `flags` by compiling an empty module up to device assignment (30 ms). Cached by compiler, flags and CPU.
 * @param codegenFlags the flags that are part of the key
 * @param cpu meaning of `host`, see `hostCpu`
 */
export async function probeTargets(
  compiler: string,
  flags: readonly string[],
  codegenFlags: readonly string[],
  cpu: string,
  cacheDirectory: string,
): Promise<Probe> {
  const identity = [compilerIdentity(compiler), cpu, ...flags, '', ...codegenFlags].join('\n');
  const known = probeMemory.recall(cacheDirectory, identity);
  if (known !== null) return known.probe;
  const result = await askCompiler(compiler, [...flags, '--compile-to=preprocessing', '-'], {
    env: process.env,
    stdin: Buffer.from('module {}\n'),
  });
  if (result.code !== 0) {
    const lines = result.stderr.toString().trim().split('\n');
    const problem = lines.find((line) => /error|Unknown command line argument/.test(line)) ?? lines.at(-1)!;
    // Not cached, because a missing file of a flag may exist next time.
    return { targets: [], problem };
  }
  // Loaded on demand: a hit never gets here.
  const { readTargets } = await import('./read-targets.ts');
  const targets = readTargets(result.stdout, codegenFlags);
  const probe: Probe = {
    targets: targets.map((target) => ({ target, key: targetKey(target) })),
    problem: targets.length === 0 ? 'no target device in the flags' : null,
  };
  probeMemory.remember(cacheDirectory, { identity, probe });
  return probe;
}

const isProbedTarget = hasFields<ProbedTarget>({
  key: isText,
  target: hasFields<Target>({
    ...{ backend: isText, triple: isText, cpu: isText, nativeVectorBytes: isNumber },
    ...{ gpu: optional(isText), features: listOf(isText), flags: listOf(isText) },
  }),
});

const isCached = hasFields<{ identity: string; probe: Probe }>({
  identity: isText,
  probe: hasFields<Probe>({ targets: listOf(isProbedTarget), problem: orNull(isText) }),
});

const probeMemory = memoryOf(TARGETS, isCached, { outlivesBuild: true });
