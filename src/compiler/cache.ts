// Small facts about a compiler (its version, its flags) are kept as JSON files between runs, so that
// a hit never starts the compiler only to ask it something. Everything here is an optimisation: a
// cache that is missing, damaged or not writable costs time and nothing else.
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shortHash } from './hash.ts';
import { temporaryName } from './scratch.ts';

/**
 * The JSON value of `directory/name` when it is there and `isValid` accepts it, else `null`. Never throws:
 * what is in a cache is data that anyone may have written.
 */
export function readCached<T>(
  directory: string,
  name: string,
  isValid: (value: unknown) => value is T,
): T | null {
  try {
    const value: unknown = JSON.parse(readFileSync(join(directory, name), 'utf8'));
    return isValid(value) ? value : null;
  } catch {
    return null;
  }
}

/** Writes `directory/name` in one step, so that a reader sees all of it or none. False when it cannot be written. */
export function writeCached(directory: string, name: string, value: unknown): boolean {
  const path = join(directory, name);
  const temporary = temporaryName(path);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(temporary, JSON.stringify(value));
    renameSync(temporary, path);
    return true;
  } catch {
    try {
      rmSync(temporary, { force: true });
    } catch {
      // There is no such directory, or it is not ours: then there is nothing to remove either.
    }
    return false;
  }
}

/**
 * A string that changes when the file, or the compiler library that it loads, is replaced: real path, size
 * and modification time in nanoseconds of each. `null` when the file cannot be seen.
 */
export function fileIdentity(path: string): string | null {
  try {
    const real = realpathSync(path);
    return (
      [real, ...besideCompiler(real)]
        .map(stamp)
        .filter((part) => part !== null)
        .join('\n') || null
    );
  } catch {
    return null;
  }
}

/** The cache file that holds `kind` of facts about the file with this identity. */
export function cacheName(kind: string, identity: string): string {
  return `${kind}-${shortHash(identity)}.json`;
}

// The executable is a stub of a few kilobytes: a rebuilt compiler may differ in its library only.
function besideCompiler(executable: string): string[] {
  const directory = dirname(executable);
  const names = process.platform === 'darwin' ? ['libIREECompiler.dylib'] : ['libIREECompiler.so'];
  return names.flatMap((name) => [join(directory, name), join(directory, '..', 'lib', name)]);
}

function stamp(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${path} ${stat.size} ${stat.mtimeNs}`;
}
