// Lock files on disk.
import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadBackendsIn } from '../../backend/index.ts';
import { lockFile } from '../../site/measuring-lock.ts';
import { lockOnMachine, type Lock as HeldLock } from '../../system/machine-lock.ts';
import { pathIn, WRITING_LOCKS } from '../../system/cache.ts';
import { removeLeftovers, replaceFile } from '../../system/temporary-files.ts';
import { networkOf } from '../../system/file-system.ts';
import { shortHash } from '../../system/hash.ts';
import { messageOf } from '../../system/tell.ts';
import { realpathOr } from '../../system/files.ts';
import { EMPTY_LOCK, LockError, lockText, parseLock, type Lock } from './lock.ts';

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
 * Changes or creates a lock file atomically: a reader sees the old file or the new one, and other writers wait. The system releases a
 * writer's lock when its process ends. Symbolic links stay.
 * @throws LockError with the path for a file that cannot be used
 */
export async function updateLock(
  path: string,
  cacheDirectory: string,
  change: (lock: Lock) => Lock,
): Promise<void> {
  const real = realpathOr(path);
  const held = await lockAlone(shortHash(real), cacheDirectory);
  if (held === null) throw new LockError(`the lock file ${path} is being written by another process`);
  try {
    const text = lockText(change((await readLock(real))?.lock ?? EMPTY_LOCK));
    removeLeftovers(real);
    replaceFile(real, text);
  } finally {
    held.release();
  }
}

/** The lock of the writer, in the cache folder; on a network disk, which has no locks, of this machine. Null if another process keeps it. */
async function lockAlone(name: string, cacheDirectory: string): Promise<HeldLock | null> {
  const path = pathIn(cacheDirectory, WRITING_LOCKS, name);
  const lock = () =>
    networkOf(path) === null ? lockFile(path) : lockOnMachine(process.env, 'writing', name);
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end;) {
    const held = await lock();
    if (held !== null) return held;
    await sleep(10);
  }
  return null;
}
