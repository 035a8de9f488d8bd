// Measuring on this machine: the lock, the scratch folder and the toolchain.
import { mkdirSync, rmSync } from 'node:fs';
import type { MeasuringTools } from '../compiler/find.ts';
import { commonFolder } from '../measure/common-modules.ts';
import { StoppedError, type Toolchain } from '../measure/toolchain.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { acquireMeasuringLock } from '../site/measuring-lock.ts';
import type { Site } from '../site/site.ts';
import { BUSY } from '../site/turn.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import { Semaphore } from '../system/semaphore.ts';
import { UserError } from '../system/user-error.ts';
import { likelyCompilesAtOnce } from './tune-workloads.ts';

/**
 * Runs an action while no other process measures on this machine.
 * @param budgetSeconds longest wait for other processes
 * @param action receives a folder that is removed afterwards; it returns why it ended early, or null
 * @throws UserError if the cache folder is not writable
 */
export async function measuringAlone(
  { env, cacheDirectory }: Pick<Surroundings, 'env' | 'cacheDirectory'>,
  budgetSeconds: number,
  signal: AbortSignal,
  action: (folder: string) => Promise<string | null>,
): Promise<string | null> {
  const lock = await acquireMeasuringLock({ env, cacheDirectory }, budgetSeconds, signal);
  if (lock === null) return BUSY.reason;
  const folder = makeScratchFolder(cacheDirectory, 'tuning');
  try {
    if (folder === null) throw new UserError(`nothing can be written to the cache folder ${cacheDirectory}`);
    return await action(folder);
  } catch (error) {
    if (!(error instanceof StoppedError)) throw error;
    return 'it was interrupted';
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
): Toolchain {
  mkdirSync(folder);
  return {
    ...{ ...tools, compiler: site.executable, compiles: new Semaphore(likelyCompilesAtOnce()), signal },
    ...{ release: site.compiler.release, flags: site.flags, device: site.device },
    ...{ workDirectory: folder, commonDirectory: commonFolder(cacheDirectory) },
  };
}
