// The measuring lock: one measurement of a device at a time, across processes.
import { basename, dirname } from 'node:path';
import Database from 'better-sqlite3';
import { deviceKey, type Device } from '../backend/device.ts';
import { runnerOf, type RunnerSettings } from '../runner/runner.ts';
import { makeFolder } from '../system/folder.ts';
import { GPU_LOCKS, MEASURING_LOCK, pathIn, RUNNER_LOCKS, UNKILLABLE } from '../system/cache.ts';
import { networkOf } from '../system/file-system.ts';
import { shortHash } from '../system/hash.ts';
import { exemptFromSlots } from '../system/slots.ts';
import { noteUnkillable, refuseNoted } from '../system/unkillable.ts';
import { lockOnMachine, lockWith, NO_LOCK, type Lock } from '../system/machine-lock.ts';
import { retry } from '../system/patience.ts';

/** The place of a measurement. */
export interface Measuring {
  readonly cacheDirectory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The measured device; absent for the CPU of this machine. */
  readonly device?: Device;
  readonly settings?: RunnerSettings;
}

/**
 * Waits up to `timeoutSeconds` for the device's lock; null after that, or at the signal. A software driver shares the CPU's lock. A GPU and
 * the CPU are measured side by side, because a GPU needs little of the host.
 *
 * The lock has two parts: a lock of the machine, and a lock in the cache folder. The second excludes containers that share the folder only.
 * The system frees both when the holder dies, so no stale lock blocks a build.
 *
 * If a process of the holder does not end, the release leaves a note, and nothing is measured on the device while the process is there.
 * The device of a runner has the lock of its own machine instead, and one in the cache folder.
 * @throws if the cache folder is not writable; an UnkillableError; an UnreachableError
 */
export async function acquireMeasuringLock(
  { cacheDirectory, env, device, settings }: Measuring,
  timeoutSeconds: number,
  signal?: AbortSignal,
): Promise<Lock | null> {
  makeFolder(cacheDirectory, 0o700);
  const runner = device !== undefined && settings !== undefined ? runnerOf(settings, cacheDirectory) : null;
  const inCache = (path: string) => (seconds: number) => retry(() => lockFile(path), seconds, signal);
  if (runner !== null)
    return bothLocks(
      timeoutSeconds,
      inCache(pathIn(cacheDirectory, RUNNER_LOCKS, basename(runner.folder))),
      async (seconds) => {
        // Loaded on demand: few builds have a runner.
        const { openSession } = await import('../runner/session.ts');
        return openSession(runner, seconds, signal);
      },
    );
  // Drivers of one GPU share its UUID.
  const gpu = device?.gpu?.isSoftware === false ? shortHash(device.gpu.uuid ?? deviceKey(device)) : null;
  const path = gpu === null ? pathIn(cacheDirectory, MEASURING_LOCK) : pathIn(cacheDirectory, GPU_LOCKS, gpu);
  const locks = await bothLocks(timeoutSeconds, inCache(path), (seconds) =>
    retry(() => lockOnMachine(env, 'measuring', gpu), seconds, signal),
  );
  if (locks === null) return null;
  const note = pathIn(cacheDirectory, UNKILLABLE, shortHash(gpu ?? 'CPU'));
  const endExemption = exemptFromSlots();
  const lock = lockWith(() => {
    endExemption();
    noteUnkillable(note);
    locks.release();
  });
  try {
    refuseNoted(note);
  } catch (error) {
    lock.release();
    throw error;
  }
  return lock;
}

/** Takes two locks in turn; null if they are not free in time. @throws what one of them throws */
async function bothLocks(timeoutSeconds: number, first: TakeLock, second: TakeLock): Promise<Lock | null> {
  const begun = performance.now();
  const outer = await first(timeoutSeconds);
  if (outer === null) return null;
  let inner: Lock | null = null;
  try {
    inner = await second(timeoutSeconds - (performance.now() - begun) / 1000);
  } finally {
    if (inner === null) outer.release();
  }
  const own = inner;
  if (own === null) return null;
  return lockWith(() => {
    own.release();
    outer.release();
  });
}

/** @param seconds the longest wait */
type TakeLock = (seconds: number) => Promise<Lock | null>;

/**
 * Locks a small file through SQLite, in a folder that need not exist; null if another process holds the lock. On a network disk the lock excludes nobody: a lock there could
 * fail, hang, or block other machines. Throws if the file is not writable.
 */
export function lockFile(path: string): Lock | null {
  if (networkOf(path) !== null) return NO_LOCK;
  makeFolder(dirname(path), 0o700);
  const database = new Database(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return null;
    throw error;
  }
  return lockWith(() => {
    database.exec('ROLLBACK');
    database.close();
  });
}
