// One measurement at a time on one machine, whoever measures, and whatever cache folder he has.
import { closeSync, constants, fchmodSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { shortHash } from '../system/hash.ts';
import type { Lock } from './measuring-lock.ts';

/** Names what passes for a machine. Set by tests, which do not wait for other tests. */
export const machineVariable = 'IREE_TUNED_MACHINE';

/**
 * Tries once to lock this machine against all of its users; null when somebody has locked it. Never throws: where the
 * system refuses (a sandbox without sockets, a file of somebody else's in the way), nobody is excluded.
 *
 * On Linux the lock is an abstract Unix socket: a name that one process at a time can have, and that the kernel frees when
 * this one ends. Unlike a file in a folder that all may write to, nobody can prepare it, need be permitted to open it, or
 * leaves it behind. Containers with a network of their own have names of their own.
 */
export function lockMachine(env: Readonly<Record<string, string | undefined>>): Promise<Lock | null> {
  const machine = env[machineVariable];
  const name = `iree-tuned-measuring${machine === undefined ? '' : `-${shortHash(machine)}`}`;
  if (process.platform === 'linux') return bindName(`\0${name}`);
  return Promise.resolve(process.platform === 'darwin' ? openLocked(`/tmp/${name}`) : NO_LOCK);
}

/** Where there is none. */
export const NO_LOCK: Lock = { release: () => undefined };

function bindName(path: string): Promise<Lock | null> {
  return new Promise((resolve) => {
    const server = createServer((connection) => connection.destroy());
    server.on('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code === 'EADDRINUSE' ? null : NO_LOCK);
    });
    server.listen({ path }, () => {
      resolve({ release: () => server.close() });
    });
    // The lock alone is no reason for the process to go on.
    server.unref();
  });
}

/** `O_EXLOCK` of open(2) on macOS, which Node does not name. It takes nothing but the permission to read. */
const LOCKED = 0x20;

/** The file is left where it is: whoever removed it would free others to lock the next one. */
function openLocked(path: string): Lock | null {
  const { O_RDONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    const file = openSync(path, O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | LOCKED, 0o444);
    try {
      // Whatever the umask of the first one is, others are to read it.
      fchmodSync(file, 0o444);
    } catch {
      // It is somebody else's.
    }
    return {
      release() {
        closeSync(file);
      },
    };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? null : NO_LOCK;
  }
}
