// Lock files on disk.
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { messageOf } from '../system/tell.ts';
import { realpathOr } from '../system/files.ts';
import { temporaryName } from '../system/scratch.ts';
import { LockError, lockText, parseLock } from './text.ts';
import type { Lock } from './lock.ts';

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

/** Writes it in one step, so that a reader sees all of it or what was there before. Links stay what they are. */
export function writeLock(path: string, lock: Lock): void {
  const real = realpathOr(path);
  const temporary = temporaryName(real);
  try {
    writeFileSync(temporary, lockText(lock));
    renameSync(temporary, real);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
