// Measuring on this machine: the lock, the scratch folder and the toolchain.
import { mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { MeasuringTools } from '../compiler/find.ts';
import { commonFolder } from '../measure/common-modules.ts';
import { StoppedError, type Toolchain } from '../measure/toolchain.ts';
import { UnreachableError } from '../runner/shell.ts';
import { acquireMeasuringLock, type Measuring } from '../site/measuring-lock.ts';
import type { Site } from '../site/site.ts';
import { BUSY } from '../site/turn.ts';
import { because, cacheUnwritable, type Reason } from '../system/reason.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import { Semaphore } from '../system/semaphore.ts';
import { UnkillableError } from '../system/unkillable.ts';

/** Most compiles at once. Each keeps about one thread busy and takes a third of a gigabyte. */
const MOST_COMPILES_AT_ONCE = 4;

/** Number of compiles that this machine runs at once. */
export const likelyCompilesAtOnce = (): number => Math.min(MOST_COMPILES_AT_ONCE, availableParallelism());

/**
 * Runs an action while no other process measures on the device.
 * @param seconds longest wait for other processes
 * @param action receives a folder that is removed afterwards; it returns why it ended early, or null
 * @returns why the action did not run, or ended early; null otherwise
 * @throws if the cache folder is not writable; an UnkillableError
 */
export async function measuringAlone(
  measuring: Measuring,
  seconds: number,
  signal: AbortSignal,
  action: (folder: string) => Promise<Reason | null>,
): Promise<Reason | null> {
  const lock = await acquireMeasuringLock(measuring, seconds, signal);
  if (lock === null) return BUSY;
  const { cacheDirectory } = measuring;
  const folder = makeScratchFolder(cacheDirectory, 'tuning');
  try {
    return folder === null ? cacheUnwritable(cacheDirectory) : await action(folder);
  } catch (error) {
    if (!(error instanceof StoppedError)) throw error;
    if (error.cause instanceof UnkillableError) throw error.cause;
    if (error.cause instanceof UnreachableError) return because('device-missing', error.message);
    return because('interrupted');
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
    lock.release();
  }
}

/** The tools of a site. Makes their work folder. */
export function toolchainOf(
  site: Site,
  tools: MeasuringTools,
  folder: string,
  cacheDirectory: string,
  signal: AbortSignal,
  compiles = new Semaphore(likelyCompilesAtOnce()),
): Toolchain {
  mkdirSync(folder);
  return {
    ...{ ...tools, compiler: site.executable, compiles, signal },
    ...{ release: site.compiler.release, flags: site.flags, device: site.device },
    ...{ workDirectory: folder, commonDirectory: commonFolder(cacheDirectory) },
  };
}
