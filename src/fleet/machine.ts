// An advisory lock of the server, by boot id: one worker of a machine measures at a time, even in separate containers. The measuring
// lock excludes other processes.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { resultOr } from '../system/result-or.ts';
import { sha256 } from '../system/hash.ts';
import type { ServerDatabase } from './database.ts';

/** "IREt" in ASCII. */
const LOCK_CLASS = 0x49524574;

/** The boot id; the host name if the system has none. */
const bootId = (): string =>
  resultOr(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(), hostname());

export type MachineLock = ReturnType<typeof machineLock>;

/** @param machine identifies the machine; its boot id by default */
export function machineLock(database: ServerDatabase, machine: string = bootId()) {
  // Positive, because pg_locks shows both halves unsigned.
  const values = [LOCK_CLASS, parseInt(sha256(machine).slice(0, 8), 16) >>> 1];
  return {
    /** Takes or keeps the lock. Returns false if another worker has it. A new connection takes it again. */
    async hold(): Promise<boolean> {
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
    async release(): Promise<void> {
      await database.rows('SELECT pg_advisory_unlock($1::integer, $2::integer)', values);
    },
  };
}
