// What is remembered between processes of servers that have failed. Apart from the rest of what is remembered of a server, so
// that a build looks here before it loads anything that asks one.
import { rmSync } from 'node:fs';
import { BREAKERS } from '../system/cache.ts';
import { isObject } from '../system/data.ts';
import { memoryOf } from '../system/memory.ts';
import { sha256 } from '../system/sha256.ts';
import { isBreaker, type Breaker } from './breaker.ts';

export interface Kept<T> {
  readonly identity: string;
  readonly value: T;
}

export const isKept =
  <T>(isValue: (value: unknown) => value is T) =>
  (value: unknown): value is Kept<T> =>
    isObject(value) && typeof value['identity'] === 'string' && isValue(value['value']);

const breakers = memoryOf(BREAKERS, isKept(isBreaker), { outlivesBuild: true });

/** @param url of the server, password included: a right one is another one's successor, and no URL is in a file */
export const serverIdentity = (url: string): string => sha256(url).slice(0, 32);

export const recallBreaker = (cacheDirectory: string, identity: string): Breaker | null =>
  breakers.recall(cacheDirectory, identity)?.value ?? null;

/** @param breaker null forgets that it ever failed */
export function rememberBreaker(cacheDirectory: string, identity: string, breaker: Breaker | null): void {
  if (breaker === null) removeQuietly(breakers.pathOf(cacheDirectory, identity));
  else breakers.remember(cacheDirectory, { identity, value: breaker });
}

export function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // It is somebody else's folder: then nothing was written there either.
  }
}
