// Lock files on disk.
import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { messageOf } from '../system/tell.ts';
import { realpathOr } from '../system/files.ts';
import { LockError, lockText, parseLock } from './text.ts';
import { EMPTY_LOCK, type Lock } from './lock.ts';

/** No lock file is larger: a program has a few hundred lines. */
const LARGEST_BYTES = 64 * 1024 * 1024;

/** What a lock file says, and its text; null when it is not there. */
export interface LockOnDisk {
  readonly lock: Lock;
  readonly text: string;
}

/** @throws LockError with the path, when something is there that cannot be used */
export function readLock(path: string): LockOnDisk | null {
  try {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined) return null;
    // Reading a pipe would wait for ever.
    if (!status.isFile()) throw new LockError('it is not a file');
    if (status.size > LARGEST_BYTES) throw new LockError('it is too large');
    const text = readFileSync(path, 'utf8');
    return { lock: parseLock(text), text };
  } catch (error) {
    throw new LockError(`the lock file ${path} cannot be used: ${messageOf(error)}`);
  }
}

/** Nobody takes as long to write one: what is older was left by who was killed. */
const ABANDONED_MS = 5000;

/**
 * Changes a lock file, or makes it, in one step: a reader sees all of it or what was there before, and who changes it at the
 * same time waits. Links stay what they are.
 * @throws LockError with the path, when something is there that cannot be used
 */
export function updateLock(path: string, change: (lock: Lock) => Lock): void {
  const real = realpathOr(path);
  const next = `${real}.new`;
  const file = openAlone(next);
  try {
    writeFileSync(file, lockText(change(readLock(real)?.lock ?? EMPTY_LOCK)));
    renameSync(next, real);
  } catch (error) {
    rmSync(next, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Makes a file that is not there, as soon as it is not. */
function openAlone(path: string): number {
  for (;;) {
    try {
      return openSync(path, 'wx');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (age > ABANDONED_MS) rmSync(path, { force: true });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
