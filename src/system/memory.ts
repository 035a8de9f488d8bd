// Facts that builds remember in the cache, one small JSON file each, so that a hit asks the compiler nothing. A missing or damaged file
// costs time only.
import { dirname } from 'node:path';
import { resultOr } from './result-or.ts';
import { readJson } from './files.ts';
import { makeFolder } from './folder.ts';
import { pathIn, type Place } from './cache.ts';
import { shortHash } from './hash.ts';
import { replaceFile } from './temporary-files.ts';

/** `identity` is the full text behind the hash in the file's name, to detect collisions. */
interface Remembered {
  readonly identity: string;
}

export interface Memory<T extends Remembered> {
  /** The value of an identity; null if missing or invalid. Never throws. */
  recall(cacheDirectory: string, identity: string): T | null;
  /** Stores a value. Never throws: it ignores a failed write. */
  remember(cacheDirectory: string, value: T): void;
  pathOf(cacheDirectory: string, identity: string): string;
}

/** Digest of this build's sources, from scripts/build.mjs; undefined if Node runs the sources. */
declare const IREE_TUNED_BUILD: string | undefined;

/**
 * @param isValid checks the content, which is untrusted
 * @param options.outlivesBuild whether other builds of this program may use it. Facts about this build's own output must not.
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
      const value = readJson(pathOf(cacheDirectory, identity));
      return isValid(value) && value.identity === identity ? value : null;
    },
    remember(cacheDirectory, value) {
      const path = pathOf(cacheDirectory, value.identity);
      resultOr(() => {
        makeFolder(dirname(path), 0o700);
        replaceFile(path, JSON.stringify(value));
      }, undefined);
    },
  };
}
