// The log of builds: a line of JSON for each, so that builds that run at once keep all their reasons. Never in the way of a build.
import { appendFileSync, readFileSync, renameSync, statSync } from 'node:fs';
import { isObject } from '../system/data.ts';
import { makeFolder } from '../system/folder.ts';
import { BUILDS, OLDER_BUILDS, pathIn } from '../system/cache.ts';
import type { Counts } from './counting.ts';

/** A build as the log has it. */
export interface LoggedBuild {
  /** When it ended, or handed over to the compiler; ISO 8601. */
  readonly at: string;
  readonly folder: string;
  /** As the command line has it. */
  readonly input: string;
  /** Whether it was known what the command comes to. */
  readonly again: boolean;
  /** As `countsOf` has them: route, outcomes of operations, reasons. */
  readonly counts: Counts;
}

/** A longer file becomes the older half, in bytes. */
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

/** The last builds, the oldest of them first. */
export function loggedBuilds(cacheDirectory: string, most: number): LoggedBuild[] {
  const lines = [OLDER_BUILDS, BUILDS].flatMap((place) => linesOf(pathIn(cacheDirectory, place)));
  return lines.flatMap(readBuild).slice(-most);
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** A line that was cut off is none. */
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
