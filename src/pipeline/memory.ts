// What is remembered of inputs and plans between builds: one small file each, made again when lost.
import { join } from 'node:path';
import { readCached, writeCached } from '../compiler/cache.ts';
import { shortHash } from '../compiler/hash.ts';

/** The identity is the whole text that the file's name is derived from, so that a collision of names is noticed. */
interface Remembered {
  readonly identity: string;
}

export interface Memory<T extends Remembered> {
  /** What is known of this identity; null when nothing is. */
  recall(cacheDirectory: string, identity: string): T | null;
  remember(cacheDirectory: string, value: T): void;
  /** The file that this is kept in. */
  pathOf(cacheDirectory: string, identity: string): string;
}

/** Names this build of the program; see scripts/build.mjs. Without a value where the source is run as it is. */
declare const IREE_TUNED_BUILD: string | undefined;

/**
 * @param kind in the singular: names the files, and in the plural their folder
 * @param options.outlivesBuild other builds of this program may use it too; what one of them knows of its specs, say, does
 * not hold for those that another one writes
 */
export function memoryOf<T extends Remembered>(
  kind: string,
  isValid: (value: unknown) => value is T,
  options: { readonly outlivesBuild: boolean } = { outlivesBuild: false },
): Memory<T> {
  const isOwn = !options.outlivesBuild && typeof IREE_TUNED_BUILD !== 'undefined';
  const build = isOwn ? IREE_TUNED_BUILD : '';
  const folder = (cacheDirectory: string) => join(cacheDirectory, `${kind}s`);
  const fileName = (identity: string) => `${kind}-${shortHash(build + identity)}.json`;
  return {
    pathOf: (cacheDirectory, identity) => join(folder(cacheDirectory), fileName(identity)),
    recall(cacheDirectory, identity) {
      const value = readCached(folder(cacheDirectory), fileName(identity), isValid);
      return value?.identity === identity ? value : null;
    },
    remember(cacheDirectory, value) {
      writeCached(folder(cacheDirectory), fileName(value.identity), value);
    },
  };
}
