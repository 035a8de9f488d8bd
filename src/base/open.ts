// The bases of a build: opens what is installed, and has it brought up to date by a process that may outlive the build.
import { existsSync, promises } from 'node:fs';
import { join } from 'node:path';
import type { BaseAddress } from '../settings/bases.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { layered } from '../store/layered.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { fileIdentity, textIn } from '../system/files.ts';
import { messageOf, writeLog } from '../system/tell.ts';
import { HEAD, readHeadText, type Published } from './head.ts';
import {
  claimCheck,
  databaseIn,
  folderOf,
  headIn,
  isDue,
  lastCheck,
  noteCheck,
  placeName,
  type Checked,
} from './installed.ts';
import { startJob } from './start.ts';

type Place = Pick<Published, 'target' | 'compiler'>;

/** Limit of the wait for a base that is not here, or that has changed in a folder, in milliseconds. */
const PATIENCE_MS = 2000;

/** Limit of the wait for a folder, which may be on a disk that does not answer. */
const STAT_MS = 200;

/**
 * The database above the bases of the settings. A base that cannot be read is left out, and the log says why.
 * @param own null without a database of the own
 * @param places targets and compilers of the build
 */
export async function withBases<Own extends Store | null>(
  own: Own,
  places: readonly Place[],
  surroundings: Surroundings,
): Promise<Own | Store> {
  return above(own, surroundings, async (address) => {
    await bringUpToDate(address, places, surroundings);
    return databasesOf(address, surroundings, (one) =>
      places.some((place) => placeName(place) === placeName(one)),
    );
  });
}

/** The database above all databases of the bases that are here. Asks for nothing. */
export const withInstalled = <Own extends Store | null>(
  own: Own,
  surroundings: Surroundings,
): Promise<Own | Store> =>
  above(own, surroundings, (address) => databasesOf(address, surroundings, () => true));

/** @param pathsAt databases of a base */
async function above<Own extends Store | null>(
  own: Own,
  { settings: { bases, log } }: Surroundings,
  pathsAt: (address: BaseAddress) => readonly string[] | Promise<readonly string[]>,
): Promise<Own | Store> {
  const stores: Store[] = own === null ? [] : [own];
  for (const address of bases) {
    try {
      for (const path of await pathsAt(address))
        stores.push(await openStore(path, { readonly: true, isFixed: true }));
    } catch (error) {
      if (log !== undefined) writeLog(`a base is left out: ${messageOf(error)}`, log);
    }
  }
  const [first, ...others] = stores;
  return first === undefined ? own : layered([first, ...others]);
}

/** Paths of the installed databases that are wanted. */
function databasesOf(
  address: BaseAddress,
  { cacheDirectory, settings }: Surroundings,
  isWanted: (published: Published) => boolean,
): string[] {
  const folder = folderOf(cacheDirectory, address);
  const text = textIn(headIn(folder));
  if (text === '') return [];
  const { databases } = readHeadText(text, settings.teamKey);
  return databases
    .filter(isWanted)
    .map((published) => databaseIn(folder, published))
    .filter((path) => existsSync(path));
}

/** Waits only for a base that is not here, or for a changed folder. Otherwise the next build gets the new one. */
async function bringUpToDate(
  address: BaseAddress,
  places: readonly Place[],
  surroundings: Surroundings,
): Promise<void> {
  const folder = folderOf(surroundings.cacheDirectory, address);
  const checked = lastCheck(folder);
  const isNew = !places.every((place) => checked?.places.includes(placeName(place)));
  const isFailing = checked !== null && checked.problem !== null;
  const isMissing = !isFailing && (isNew || !existsSync(headIn(folder)));
  const hasChanged = address.kind === 'folder' && (await isChanged(address.path, folder, checked));
  if (!isNew && !hasChanged && !isDue(folder)) return;
  claimCheck(folder);
  const ended = startJob({ addresses: [address], places }, surroundings);
  if (isMissing || hasChanged) await inTime(ended, PATIENCE_MS, undefined);
}

/** Whether a folder has another head than the one that was seen last. A disk that does not answer is left alone until the next question is due. */
async function isChanged(path: string, folder: string, checked: Checked | null): Promise<boolean> {
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
async function inTime<T, Otherwise>(
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
