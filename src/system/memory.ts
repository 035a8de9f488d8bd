// What is remembered between builds: of compilers, inputs and plans, one small JSON file each, so that a hit never starts the
// compiler only to ask it something. All of it is an optimisation: what is missing, damaged or cannot be written costs time
// and nothing else.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from './folder.ts';
import { pathIn, type Place } from './cache.ts';
import { shortHash } from './hash.ts';
import { temporaryName } from './scratch.ts';

/** The identity is the whole text that the file's name is derived from, so that a collision of names is noticed. */
interface Remembered {
  readonly identity: string;
}

export interface Memory<T extends Remembered> {
  /** What is known of this identity; null when nothing is. Never throws. */
  recall(cacheDirectory: string, identity: string): T | null;
  /** Never throws: where it cannot be kept it is forgotten. */
  remember(cacheDirectory: string, value: T): void;
  /** The file that this is kept in. */
  pathOf(cacheDirectory: string, identity: string): string;
}

/** Names this build of the program; see scripts/build.mjs. Without a value where the source is run as it is. */
declare const IREE_TUNED_BUILD: string | undefined;

/**
 * @param isValid what lies in the cache is data that anyone may have written
 * @param options.outlivesBuild other builds of this program may use it too; what one of them knows of its specs, say, does
 * not hold for those that another one writes
 */
export function memoryOf<T extends Remembered>(
  place: Place,
  isValid: (value: unknown) => value is T,
  options: { readonly outlivesBuild: boolean } = { outlivesBuild: false },
): Memory<T> {
  const isOwn = !options.outlivesBuild && typeof IREE_TUNED_BUILD !== 'undefined';
  const build = isOwn ? IREE_TUNED_BUILD : '';
  const pathOf = (cacheDirectory: string, identity: string) =>
    pathIn(cacheDirectory, place, shortHash(build + identity));
  return {
    pathOf,
    recall(cacheDirectory, identity) {
      const value = read(pathOf(cacheDirectory, identity));
      return isValid(value) && value.identity === identity ? value : null;
    },
    remember(cacheDirectory, value) {
      write(pathOf(cacheDirectory, value.identity), value);
    },
  };
}

function read(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** In one step, so that a reader sees all of it or none. */
function write(path: string, value: unknown): void {
  const temporary = temporaryName(path);
  try {
    makeFolder(dirname(path), 0o700);
    writeFileSync(temporary, JSON.stringify(value));
    renameSync(temporary, path);
  } catch {
    try {
      rmSync(temporary, { force: true });
    } catch {
      // There is no such directory, or it is not ours: then there is nothing to remove either.
    }
  }
}
