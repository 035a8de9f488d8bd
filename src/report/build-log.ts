// The log of builds: one line of JSON for each build, so that parallel builds keep all their reasons. `iree-tuned stats` sums it. A
// failure of the log never fails a build.
import { appendFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { hasFields, isBoolean, isNumber, isObject, isText } from '../system/data.ts';
import { linesIn } from '../system/files.ts';
import { makeFolder } from '../system/folder.ts';
import { resultOr } from '../system/result-or.ts';
import { BUILDS, OLDER_BUILDS, pathIn } from '../system/cache.ts';
import type { Counts } from './counts.ts';

export interface LoggedBuild {
  /** ISO 8601 time at which the build ended or started the compiler. */
  readonly at: string;
  readonly folder: string;
  /** As on the command line. */
  readonly input: string;
  /** Whether the build repeated a known command. */
  readonly again: boolean;
  readonly counts: Counts;
}

/** Largest size of the log in bytes. A larger log becomes the older half. */
const LARGEST_BYTES = 4_000_000;

/** Appends a build. Never throws: a full disk must not stop it. */
export function logBuild(cacheDirectory: string, input: string, again: boolean, counts: Counts): void {
  try {
    const path = pathIn(cacheDirectory, BUILDS);
    const build: LoggedBuild = { at: new Date().toISOString(), folder: process.cwd(), input, again, counts };
    makeFolder(cacheDirectory, 0o700);
    // One write: lines of builds at the same time do not mix.
    appendFileSync(path, `${JSON.stringify(build)}\n`);
    if (statSync(path).size > LARGEST_BYTES) renameSync(path, pathIn(cacheDirectory, OLDER_BUILDS));
  } catch {
    // Not logged.
  }
}

const isBuild = hasFields<LoggedBuild>({
  ...{ at: isText, folder: isText, input: isText, again: isBoolean },
  counts: (value) => isObject(value) && Object.values(value).every(isNumber),
});

/** The last builds, oldest first. Lines that were cut off are left out. @param most by default all */
export const loggedBuilds = (cacheDirectory: string, most = Infinity): LoggedBuild[] =>
  [OLDER_BUILDS, BUILDS]
    .flatMap((place) => linesIn(pathIn(cacheDirectory, place)))
    .map((line) => resultOr((): unknown => JSON.parse(line), null))
    .filter(isBuild)
    .slice(-most);

export function forgetBuilds(cacheDirectory: string): void {
  for (const place of [OLDER_BUILDS, BUILDS]) rmSync(pathIn(cacheDirectory, place), { force: true });
}
