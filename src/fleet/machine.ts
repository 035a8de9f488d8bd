// One worker of a machine measures at a time, also where they do not see each other, as in containers: a lock of the server's
// by what tells the machine's starts apart. The measuring lock comes on top, for all others on this machine.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { sha256 } from '../system/sha256.ts';
import type { QueueDatabase } from './database.ts';

/** "IREt" in ASCII. */
const LOCK_CLASS = 0x49524574;

/** What tells this machine, since it was started, from others; by its name where the system does not say. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return hostname();
  }
}

export interface MachineLock {
  /** Takes it, or has it still; false when another worker has it. After a broken connection it is taken anew. */
  hold(): Promise<boolean>;
  release(): Promise<void>;
}

/** @param machine another name for this machine: two of them are two machines */
export function machineLock(database: QueueDatabase, machine: string = bootId()): MachineLock {
  // Both halves are positive: the server keeps them as numbers without a sign.
  const values = [LOCK_CLASS, parseInt(sha256(machine).slice(0, 8), 16) >>> 1];
  return {
    async hold() {
      const [row] = await database.rows(
        `SELECT CASE WHEN EXISTS (
           SELECT FROM pg_locks
           WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted AND objsubid = 2
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
             AND classid::bigint = $1::integer AND objid::bigint = $2::integer
         ) THEN true ELSE pg_try_advisory_lock($1::integer, $2::integer) END AS held`,
        values,
      );
      return row?.['held'] === true;
    },
    async release() {
      await database.rows('SELECT pg_advisory_unlock($1::integer, $2::integer)', values);
    },
  };
}
