// The log of builds: one line of JSON for each build, so that parallel builds keep all their reasons. A failure of the log never fails a
// build.
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { isObject } from '../system/data.ts';
import { linesIn } from '../system/files.ts';
import { makeFolder } from '../system/folder.ts';
import { BUILDS, OLDER_BUILDS, pathIn } from '../system/cache.ts';
import type { Counts } from './counting.ts';

/** A line of the log. */
export interface LoggedBuild {
  /** ISO 8601 time at which the build ended or started the compiler. */
  readonly at: string;
  readonly folder: string;
  /** As on the command line. */
  readonly input: string;
  /** Whether the build repeated a known command. */
  readonly again: boolean;
  /** Result of `countsOf`: route, outcomes of operations, reasons. */
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

/** The last builds, oldest first. */
export function loggedBuilds(cacheDirectory: string, most: number): LoggedBuild[] {
  const lines = [OLDER_BUILDS, BUILDS].flatMap((place) => linesIn(pathIn(cacheDirectory, place)));
  return lines.flatMap(readBuild).slice(-most);
}

/** The build of one line; empty for a line that was cut off. */
function readBuild(line: string): LoggedBuild[] {
  try {
    const build = JSON.parse(line) as LoggedBuild;
    const isBuild =
      [build.at, build.folder, build.input].every((text) => typeof text === 'string') &&
      typeof build.again === 'boolean' &&
      isObject(build.counts);
    return isBuild ? [build] : [];
  } catch {
    return [];
  }
}
