// Lock files on disk.
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { loadBackendsIn } from '../backend/index.ts';
import { lockFile } from '../site/measuring-lock.ts';
import type { Lock as HeldLock } from '../system/machine-lock.ts';
import { pathIn, WRITING_LOCKS } from '../system/cache.ts';
import { makeFolder } from '../system/folder.ts';
import { shortHash } from '../system/hash.ts';
import { temporaryName } from '../system/scratch.ts';
import { messageOf } from '../system/tell.ts';
import { realpathOr } from '../system/files.ts';
import { LockError, lockText, parseLock } from './text.ts';
import { EMPTY_LOCK, type Lock } from './lock.ts';

/** A program takes a few hundred lines. */
const LARGEST_BYTES = 64 * 1024 * 1024;

/**
 * The content of a lock file and its text; null for a missing file. Loads the backends of its configurations.
 * @throws LockError with the path for a file that cannot be used
 */
export async function readLock(path: string): Promise<{ readonly lock: Lock; readonly text: string } | null> {
  try {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined) return null;
    // Reading a pipe would wait for ever.
    if (!status.isFile()) throw new LockError('it is not a file');
    if (status.size > LARGEST_BYTES) throw new LockError('it is too large');
    const text = readFileSync(path, 'utf8');
    await loadBackendsIn(text);
    return { lock: parseLock(text), text };
  } catch (error) {
    throw new LockError(`the lock file ${path} cannot be used: ${messageOf(error)}`);
  }
}

/** A write takes milliseconds: after this time the other process hangs. */
const PATIENCE_MS = 30_000;

/**
 * Changes or creates a lock file atomically: a reader sees the old file or the new one, and other writers wait. Their lock is in the
 * cache folder, and the system releases it when its process ends. Symbolic links stay.
 * @throws LockError with the path for a file that cannot be used
 */
export async function updateLock(
  path: string,
  cacheDirectory: string,
  change: (lock: Lock) => Lock,
): Promise<void> {
  const real = realpathOr(path);
  const held = lockAlone(pathIn(cacheDirectory, WRITING_LOCKS, shortHash(real)));
  if (held === null) throw new LockError(`the lock file ${path} is being written by another process`);
  const next = temporaryName(real);
  try {
    writeFileSync(next, lockText(change((await readLock(real))?.lock ?? EMPTY_LOCK)));
    renameSync(next, real);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  } finally {
    held.release();
  }
}

/** Null if another process keeps the lock. */
function lockAlone(path: string): HeldLock | null {
  makeFolder(dirname(path), 0o700);
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end;) {
    const held = lockFile(path);
    if (held !== null) return held;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  }
  return null;
}
