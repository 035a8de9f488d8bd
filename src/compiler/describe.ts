// Which compiler this is. Records hold for one version and commit only, so this is part of every lookup; it
// is asked once per compiler and then read from the cache.
import { compilerIdentity } from './identity.ts';
import { DESCRIPTIONS } from '../system/cache.ts';
import { hasFields, isText } from '../system/data.ts';
import { memoryOf } from '../system/memory.ts';
import type { Release } from './release.ts';
import { shortHash } from '../system/hash.ts';
import { askCompiler } from './ask.ts';

export interface CompilerDescription {
  /** As printed, `3.13.0rc20261016`; `unknown` when the output is not understood. */
  readonly version: string;
  /** The full commit; `unknown` for a build that does not know it. */
  readonly commit: string;
  /** What records are kept under: `version@` and ten digits of the commit, or of the files when it is unknown. */
  readonly key: string;
  /** `[3, 13, 0]`, for comparing; `[0, 0, 0]` when unknown. */
  readonly release: Release;
}

/** Describes the compiler at `executable`. Never rejects: one that cannot be asked is `unknown`. */
export async function describeCompiler(
  executable: string,
  cacheDirectory: string,
): Promise<CompilerDescription> {
  const identity = compilerIdentity(executable);
  const known = descriptionMemory.recall(cacheDirectory, identity);
  if (known !== null) return known.description;
  let output: string;
  try {
    const run = await askCompiler(executable, ['--version'], { env: process.env });
    output = run.stdout.toString();
  } catch {
    output = '';
  }
  const description = parseVersion(output, identity);
  // A failure may be of the moment only (no memory, no processes): it is not worth remembering.
  if (description.version !== 'unknown')
    descriptionMemory.remember(cacheDirectory, { identity, description });
  return description;
}

/**
 * Reads what `--version` prints. `identity` stands for the files of a compiler that does not know its
 * commit, so that records never pass from one such build to another.
 */
export function parseVersion(output: string, identity: string): CompilerDescription {
  const line = /IREE compiler version (\S+)(?: @ (\S+))?/.exec(output);
  const version = line?.[1] ?? 'unknown';
  const commit = /^[0-9a-f]{7,40}$/.exec(line?.[2] ?? '')?.[0] ?? 'unknown';
  const build = commit === 'unknown' ? shortHash(identity).slice(0, 10) : commit.slice(0, 10);
  const numbers = /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(version);
  const release = [Number(numbers?.[1] ?? 0), Number(numbers?.[2] ?? 0), Number(numbers?.[3] ?? 0)] as const;
  return { version, commit, key: `${version}@${build}`, release };
}

interface CachedDescription {
  readonly identity: string;
  readonly description: CompilerDescription;
}

const isWord = (value: unknown) => isText(value) && value !== '';

const isCachedDescription = hasFields<CachedDescription>({
  identity: isText,
  description: hasFields<CompilerDescription>({
    ...{ version: isWord, commit: isWord, key: isWord },
    release: (value) => Array.isArray(value) && value.length === 3 && value.every(Number.isInteger),
  }),
});

const descriptionMemory = memoryOf(DESCRIPTIONS, isCachedDescription, { outlivesBuild: true });
