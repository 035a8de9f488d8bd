// The measuring lock: one measurement of a device at a time, across processes.
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { deviceKey, type Device } from '../backend/device.ts';
import { makeFolder } from '../system/folder.ts';
import { GPU_LOCKS, MEASURING_LOCK, pathIn } from '../system/cache.ts';
import { networkOf } from '../system/file-system.ts';
import { shortHash } from '../system/hash.ts';
import { lockDevice, NO_LOCK } from './machine-lock.ts';

/** A held lock. The system frees it at the end of the process. */
export interface Lock {
  readonly release: () => void;
}

/** The place of a measurement. */
export interface Measuring {
  readonly cacheDirectory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The measured device; absent for the CPU. */
  readonly device?: Device;
}

/**
 * Waits up to `timeoutSeconds` for the device's lock; null after that, or at the signal. A software driver shares the CPU's lock. A GPU and
 * the CPU are measured side by side, because a GPU needs little of the host.
 *
 * The lock has two parts: a lock of the machine, and a lock in the cache folder. The second excludes containers that share the folder only.
 * The system frees both when the holder dies, so no stale lock blocks a build.
 * @throws if the cache folder is not writable
 */
export async function acquireMeasuringLock(
  { cacheDirectory, env, device }: Measuring,
  timeoutSeconds: number,
  signal?: AbortSignal,
): Promise<Lock | null> {
  makeFolder(cacheDirectory, 0o700);
  const end = performance.now() + timeoutSeconds * 1000;
  // Drivers of one GPU share its UUID.
  const gpu = device?.gpu?.isSoftware === false ? shortHash(device.gpu.uuid ?? deviceKey(device)) : null;
  const path = gpu === null ? pathIn(cacheDirectory, MEASURING_LOCK) : pathIn(cacheDirectory, GPU_LOCKS, gpu);
  const cache = await retry(() => lockFile(path), end, signal);
  if (cache === null) return null;
  const machine = await retry(() => lockDevice(env, gpu), end, signal);
  if (machine === null) {
    cache.release();
    return null;
  }
  return {
    release() {
      machine.release();
      cache.release();
    },
  };
}

/** Repeats an attempt until it succeeds, until `end`, or until the signal. Tries at least once. */
async function retry(
  lock: () => Lock | null | Promise<Lock | null>,
  end: number,
  signal?: AbortSignal,
): Promise<Lock | null> {
  for (;;) {
    const held = await lock();
    if (held !== null || performance.now() >= end || signal?.aborted === true) return held;
    // Spread the attempts, so that waiting processes disturb the measurement little.
    await sleep(50 + 200 * Math.random(), undefined, signal && { signal }).catch(() => undefined);
  }
}

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
  return {
    release() {
      database.exec('ROLLBACK');
      database.close();
    },
  };
}
