// Small facts about a compiler (its version, its flags) are kept as JSON files between runs, so that
// a hit never starts the compiler only to ask it something. Everything here is an optimisation: a
// cache that is missing, damaged or not writable costs time and nothing else.
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

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

/** A new empty folder for one compile, which the caller removes; `null` when there is no place for it. */
export function makeScratchFolder(directory: string, prefix: string): string | null {
  try {
    mkdirSync(directory, { recursive: true });
    return mkdtempSync(join(directory, prefix));
  } catch {
    return null;
  }
}

/** Writes `directory/name` in one step, so that a reader sees all of it or none. False when it cannot be written. */
export function writeCached(directory: string, name: string, value: unknown): boolean {
  const path = join(directory, name);
  // The process id keeps parallel builds apart; the time keeps a reused id from meeting its own leftovers.
  const temporary = `${path}.${process.pid}.${Date.now()}.tmp`;
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

/**
 * 16 hexadecimal digits that differ for different texts as good as always. For file names and labels; whoever
 * must be sure keeps the text itself too. FNV-1a twice: loading node:crypto would cost more than the whole lookup.
 */
export function shortHash(text: string): string {
  return fnv1a(text, 0x811c9dc5) + fnv1a(text, 0x2f0b4c47);
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

function fnv1a(text: string, seed: number): string {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
