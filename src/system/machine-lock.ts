// Locks of a machine, for all users and cache folders. The system frees them at the end of their process.
import { closeSync, constants, fchmodSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { shortHash } from './hash.ts';
import { resultOr } from './result-or.ts';
import type { Environment } from './recursion.ts';

/** A held lock, which `using` releases, too. */
export interface Lock extends Disposable {
  readonly release: () => void;
}

export const lockWith = (release: () => void): Lock => ({ release, [Symbol.dispose]: release });

/** Variable with a name for the machine. Tests set it, so that they do not wait for each other. */
export const machineVariable = 'IREE_TUNED_MACHINE';

/**
 * Tries once to lock a name on this machine; null if it is locked. Never throws: if the system refuses locks, this lock excludes nobody.
 *
 * On Linux the lock is an abstract Unix socket. One process at a time can have the name, and the kernel frees it at the end of the process.
 * A file in a shared folder would need permissions, and could be prepared by another user. Containers with their own network have
 * their own names.
 * @param end of the name; null for none
 */
export function lockOnMachine(env: Environment, name: string, end: string | null): Promise<Lock | null> {
  const machine = env[machineVariable];
  const parts = [machine === undefined ? null : shortHash(machine), end].filter((part) => part !== null);
  const whole = [`iree-tuned-${name}`, ...parts].join('-');
  if (process.platform === 'linux') return bindName(`\0${whole}`);
  return Promise.resolve(process.platform === 'darwin' ? openLocked(`/tmp/${whole}`) : NO_LOCK);
}

/** For systems and folders without locks. */
export const NO_LOCK = lockWith(() => undefined);

function bindName(path: string): Promise<Lock | null> {
  return new Promise((resolve) => {
    const server = createServer((connection) => connection.destroy());
    server.on('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code === 'EADDRINUSE' ? null : NO_LOCK);
    });
    server.listen({ path }, () => {
      resolve(lockWith(() => server.close()));
    });
    // The lock must not keep the process alive.
    server.unref();
  });
}

/** `O_EXLOCK` of open(2) on macOS, which Node lacks. It needs read permission only. */
const LOCKED = 0x20;

/** Locks a file, and never removes it: after a removal another process could lock a new file. */
function openLocked(path: string): Lock | null {
  const { O_RDONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    const file = openSync(path, O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | LOCKED, 0o444);
    // Other users must be able to read it, against the umask. Another user may own it.
    resultOr(() => {
      fchmodSync(file, 0o444);
    }, undefined);
    return lockWith(() => {
      closeSync(file);
    });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? null : NO_LOCK;
  }
}
