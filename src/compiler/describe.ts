// Version, commit and build of the compiler, which are part of every record's key. Asked once per compiler, then cached.
import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { piecesOfFile } from '../system/bytes.ts';
import { DESCRIPTIONS } from '../system/cache.ts';
import { hasFields, isText } from '../system/data.ts';
import { linesIn, namesIn, readHead, realpathOr } from '../system/files.ts';
import { shortHash } from '../system/hash.ts';
import { memoryOf } from '../system/memory.ts';
import { resultOr } from '../system/result-or.ts';
import { askCompiler } from './ask.ts';
import { compilerFiles, compilerIdentity } from './identity.ts';
import type { Release } from './release.ts';

export interface CompilerDescription {
  /** As printed, such as `3.13.0rc20261016`; `unknown` for an unknown output. */
  readonly version: string;
  /** Full commit; `unknown` for a build without it. */
  readonly commit: string;
  /**
   * Key of records: `version@` and ten digits of the commit, or of a hash of the files if the commit is unknown. For a known build other
   * than a published package also `+` and the build's digest.
   */
  readonly key: string;
  /** Such as `[3, 13, 0]`; `[0, 0, 0]` if unknown. */
  readonly release: Release;
}

/** Describes the compiler at `executable`. Never rejects: a compiler that fails is `unknown`. */
export async function describeCompiler(
  executable: string,
  cacheDirectory: string,
): Promise<CompilerDescription> {
  const identity = compilerIdentity(executable);
  const known = descriptionMemory.recall(cacheDirectory, identity);
  if (known !== null) return known.description;
  const run = await askCompiler(executable, ['--version'], { env: process.env }).catch(() => null);
  const output = run?.stdout.toString() ?? '';
  const build = resultOr(() => readBuild(executable), null);
  const description = parseVersion(output, identity, build);
  // A failure may be temporary, so do not cache it.
  if (description.version !== 'unknown')
    descriptionMemory.remember(cacheDirectory, { identity, description });
  return description;
}

/**
 * Parses the output of `--version`. `identity` replaces an unknown commit, so that builds without a commit never share records.
 * @param build null if it is unknown
 */
export function parseVersion(output: string, identity: string, build: Build | null): CompilerDescription {
  const line = /IREE compiler version (\S+)(?: @ (\S+))?/.exec(output);
  const version = line?.[1] ?? 'unknown';
  const commit = /^[0-9a-f]{7,40}$/.exec(line?.[2] ?? '')?.[0] ?? 'unknown';
  const isAnyBuild = build === null || (build.isPublished && RELEASE.test(version));
  const source = (commit === 'unknown' ? shortHash(identity) : commit).slice(0, 10);
  const numbers = /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(version);
  const release = [Number(numbers?.[1] ?? 0), Number(numbers?.[2] ?? 0), Number(numbers?.[3] ?? 0)] as const;
  return { version, commit, key: `${version}@${source}${isAnyBuild ? '' : `+${build.digest}`}`, release };
}

/** Versions of published packages: one package of each for a platform. */
const RELEASE = /^\d+\.\d+\.\d+(?:rc\d+)?$/;

/** The key without the build: equal for all builds of a version and commit. */
export const versionKey = (key: string): string => key.replace(/(?<=@[0-9a-f]{10})\+[0-9a-f]{10}$/, '');

/** The content of a compiler's files. Patched builds and debug builds of one commit print the same version. */
interface Build {
  /** Ten hexadecimal digits of a digest of all files. */
  readonly digest: string;
  /** Whether a package manager installed the files from an index, and they have not changed since. */
  readonly isPublished: boolean;
}

/**
 * Reads the whole compiler, which takes half a second.
 * @returns null for a script without a library beside it: the compiler behind it is unknown
 * @throws errors of the file system
 */
function readBuild(executable: string): Build | null {
  const { createHash, hash } = process.getBuiltinModule('node:crypto');
  const files = [...new Set(compilerFiles(executable).map(realpathOr))]
    .filter((path) => existsSync(path))
    .filter((path) => readHead(path, 2) !== '#!');
  if (files.length === 0) return null;
  const digests = files.map((path) => {
    const sum = createHash('sha256');
    for (const piece of piecesOfFile(path)) sum.update(piece);
    return sum.digest('base64url');
  });
  return {
    digest: hash('sha256', digests.join('\n')).slice(0, 10),
    isPublished: files.every((path, i) => isInstalled(path, digests[i]!)),
  };
}

/** Folder of the compiler's files below site-packages. */
const BELOW_PACKAGES = 'iree/compiler/_mlir_libs';

/** Whether a package from an index has this file. Python's `RECORD` lists the digests of files, and `direct_url.json` names another origin. */
function isInstalled(path: string, digest: string): boolean {
  const packages = join(dirname(path), relative(BELOW_PACKAGES, '.'));
  const line = `${relative(packages, path)},sha256=${digest},`;
  return namesIn(packages)
    .filter((name) => /^iree_(?:base_)?compiler-.*\.dist-info$/.test(name))
    .map((name) => join(packages, name))
    .some(
      (folder) =>
        !existsSync(join(folder, 'direct_url.json')) &&
        linesIn(join(folder, 'RECORD')).some((one) => one.startsWith(line)),
    );
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
