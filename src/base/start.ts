// Starts the process that works on the bases of a build.
import type { Surroundings } from '../settings/surroundings.ts';
import { entryOf } from '../system/package-root.ts';
import { childEnvironment } from '../system/recursion.ts';
import { resultOr } from '../system/result-or.ts';
import { claimCheck, folderOf, isDue } from './installed.ts';
import type { Job } from './job.ts';

/** The settings' part of a job: all bases, unless the job names some. */
export function jobFor(
  job: Pick<Job, 'places'> & Partial<Job>,
  { settings, cacheDirectory }: Surroundings,
): Job {
  const { bases: addresses, teamKey: key, teamToken: token, publish, author } = settings;
  return { addresses, cacheDirectory, key, token, publish, author, ...job };
}

/** Starts the process. It outlives this one. */
export function startJob(job: Parameters<typeof jobFor>[0], surroundings: Surroundings): Promise<void> {
  const { env } = surroundings;
  const whole = jobFor(job, surroundings);
  return new Promise((resolve) => {
    // Loaded on demand: a hit starts no process.
    const { spawn } = process.getBuiltinModule('node:child_process');
    const child = resultOr(
      () =>
        spawn(process.execPath, [...entryOf('base'), JSON.stringify(whole)], {
          detached: true,
          stdio: 'ignore',
          // Variables of proxies count.
          env: { ...childEnvironment(env), NODE_USE_ENV_PROXY: '1' },
        }),
      null,
    );
    if (child === null) {
      resolve();
      return;
    }
    child.on('error', () => {
      resolve();
    });
    child.on('exit', () => {
      resolve();
    });
    child.unref();
  });
}

/** Has bases asked for in the background by a build that opens no database, if it is time. Never throws. */
export function refreshIfDue(surroundings: Surroundings): void {
  const { settings, cacheDirectory } = surroundings;
  const due = settings.bases.filter((address) => isDue(folderOf(cacheDirectory, address)));
  if (due.length === 0) return;
  for (const address of due) claimCheck(folderOf(cacheDirectory, address));
  void startJob({ addresses: due, places: [] }, surroundings);
}
