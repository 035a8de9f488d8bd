// Asks the compiler what the user's flags mean: the only one who knows what `host` is.
import { compilerIdentity } from '../compiler/identity.ts';
import { askCompiler } from '../compiler/ask.ts';
import { TARGETS } from '../system/cache.ts';
import { hasFields, isNumber, isText, listOf, optional, orNull } from '../system/data.ts';
import { memoryOf } from '../system/memory.ts';
import { targetKey, type Target } from '../backend/target.ts';

/** A target together with its key, so that a hit does not digest a hundred features again. */
export interface ProbedTarget {
  readonly target: Target;
  readonly key: string;
}

/** What the flags lead to: one target per device, or none when the module itself has to name it. */
export interface Probe {
  readonly targets: readonly ProbedTarget[];
  /** Last line of what the compiler said when it refused the flags. */
  readonly problem: string | null;
}

export const HOST_FLAGS: readonly string[] = [
  '--iree-hal-target-device=local',
  '--iree-hal-local-target-device-backends=llvm-cpu',
  '--iree-llvmcpu-target-cpu=host',
];

/**
 * Expands `flags` by compiling an empty module up to where devices are assigned (30 ms), remembered per compiler,
 * flags and CPU.
 * @param codegenFlags the part of `flags` that becomes part of the key
 * @param cpu what `host` stands for, see `hostCpu`
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
    // Not remembered: a missing file that a flag names may be there next time.
    return {
      targets: [],
      problem:
        lines.find((line) => /error|Unknown command line argument/.test(line)) ?? lines.at(-1) ?? 'it failed',
    };
  }
  // Nothing of this is loaded on a hit.
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
