// Bases in the cache folder, and whether they have changed. Builds read them; only `refresh.ts` writes them.
import { existsSync, promises, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { digestIn, HEAD, readHeadText, type Head, type Place, type Published } from './head.ts';
import { baseText, type BaseAddress } from '../settings/address.ts';
import { BASES, pathIn } from '../system/cache.ts';
import { hasFields, isNumber, isText, listOf, orNull } from '../system/data.ts';
import { fileIdentity, readJson, textIn } from '../system/files.ts';
import { shortHash } from '../system/hash.ts';
import { resultOr } from '../system/result-or.ts';
import { replaceFile } from '../system/temporary-files.ts';

/** Milliseconds between two questions for a head. */
const PERIOD_MS = 600_000;

/** The last question for a head. */
export interface Checked {
  /** Milliseconds of the system's clock. */
  readonly at: number;
  /** Why it failed; null if it did not. */
  readonly problem: string | null;
  /** Tag of the installed head; null if unknown. */
  readonly tag: string | null;
  /** Tag of the head that was seen, even if it could not be used; null if there was none. */
  readonly seen: string | null;
  /** Places that it installed if the head has them: see `placeName`. */
  readonly places: readonly string[];
}

const isChecked = hasFields<Checked>({
  ...{
    at: isNumber,
    problem: orNull(isText),
    tag: orNull(isText),
    seen: orNull(isText),
    places: listOf(isText),
  },
});

export const folderOf = (cacheDirectory: string, address: BaseAddress): string =>
  pathIn(cacheDirectory, BASES, shortHash(baseText(address)));

/** The verified head. */
export const headIn = (folder: string): string => join(folder, 'head.json');

/**
 * Null if there is none.
 * @param key public key that must have signed it
 * @throws UserError for an invalid one, and for one that another key has signed
 */
export function installedHead(folder: string, key: string | undefined): Head | null {
  const text = textIn(headIn(folder));
  return text === '' ? null : readHeadText(text, key);
}

export const isInstalled = (folder: string, published: Published): boolean =>
  existsSync(databaseIn(folder, published));

export const checkedIn = (folder: string): string => join(folder, 'checked.json');

/** The unpacked database of a published file. */
export const databaseIn = (folder: string, published: Pick<Published, 'file'>): string =>
  join(folder, `${digestIn(published)}.db`);

/** Null if no head was asked for. */
export function lastCheck(folder: string): Checked | null {
  const value = readJson(checkedIn(folder));
  return isChecked(value) ? value : null;
}

/** @throws if the cache folder cannot be written */
export function noteCheck(folder: string, checked: Omit<Checked, 'at'>): void {
  replaceFile(checkedIn(folder), JSON.stringify({ ...checked, at: Date.now() }));
}

/** Keeps other builds from asking at the same time. Never throws. */
export function claimCheck(folder: string): void {
  const now = new Date();
  resultOr(() => {
    utimesSync(checkedIn(folder), now, now);
  }, undefined);
}

/** Whether it is time to ask for the head. A clock that was set back does not delay it. */
export function isDue(folder: string): boolean {
  const checked = statSync(checkedIn(folder), { throwIfNoEntry: false });
  return checked === undefined || Math.abs(Date.now() - checked.mtimeMs) > PERIOD_MS;
}

export const placeName = ({ target, compiler }: Place): string =>
  shortHash(JSON.stringify([target, compiler]));

/** Limit of the wait for the disk, in milliseconds. */
const STAT_MS = 200;

/**
 * Whether a base is a folder with another head than the one that was seen last. Its disk may not answer. Then it is left alone until the
 * next question is due.
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
