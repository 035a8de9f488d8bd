// Whether a base in a folder has changed. The folder may be on a disk that does not answer.
import { promises } from 'node:fs';
import { join } from 'node:path';
import type { BaseAddress } from '../settings/bases.ts';
import { fileIdentity } from '../system/files.ts';
import { HEAD } from './head.ts';
import { isDue, lastCheck, noteCheck } from './installed.ts';

/** Limit of the wait for the disk, in milliseconds. */
const STAT_MS = 200;

/**
 * Whether a base is a folder with another head than the one that was seen last. A disk that does not answer is left alone until the next
 * question is due.
 * @param folder of the base in the cache
 */
export async function isChanged(address: BaseAddress, folder: string): Promise<boolean> {
  if (address.kind !== 'folder') return false;
  const { path } = address;
  const checked = lastCheck(folder);
  const problem = `${path}: the disk does not answer`;
  if (checked?.problem === problem && !isDue(folder)) return false;
  const head = join(path, HEAD);
  const found = promises.stat(head).then(
    () => fileIdentity(head),
    () => null,
  );
  const now = await inTime(found, STAT_MS, undefined);
  if (now === undefined && checked !== null) noteCheck(folder, { ...checked, problem });
  return now !== undefined && now !== (checked?.seen ?? null);
}

/** The value of a promise, or another one after a time in milliseconds. */
export async function inTime<T, Otherwise>(
  promise: Promise<T>,
  ms: number,
  otherwise: Otherwise,
): Promise<T | Otherwise> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Otherwise>((resolve) => {
    timer = setTimeout(resolve, ms, otherwise);
  });
  return Promise.race([promise, late]).finally(() => {
    clearTimeout(timer);
  });
}
