// The bases of a build: opens what is installed, and has it brought up to date by a process that may outlive the build.
import { existsSync } from 'node:fs';
import { baseText, type BaseAddress } from '../settings/address.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { layered, type Layer } from '../store/layered.ts';
import { openStore } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { messageOf, writeLog } from '../system/tell.ts';
import type { Place, Published } from './head.ts';
import {
  claimCheck,
  databaseIn,
  folderOf,
  headIn,
  installedHead,
  inTime,
  isChanged,
  isDue,
  isInstalled,
  lastCheck,
  placeName,
} from './installed.ts';
import { startJob } from './start.ts';

/** Limit of the wait for a base that is not here, or that has changed in a folder, in milliseconds. */
const PATIENCE_MS = 2000;

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
  { settings: { bases, author, log } }: Surroundings,
  pathsAt: (address: BaseAddress) => readonly string[] | Promise<readonly string[]>,
): Promise<Own | Store> {
  const layers: Layer[] = own === null ? [] : [{ store: own, base: null }];
  for (const address of bases) {
    try {
      for (const path of await pathsAt(address)) {
        const store = await openStore(path, { readonly: true, isFixed: true, author });
        layers.push({ store, base: baseText(address) });
      }
    } catch (error) {
      if (log !== undefined) writeLog(`a base is left out: ${messageOf(error)}`, log);
    }
  }
  const [first, ...others] = layers;
  return first === undefined ? own : layered([first, ...others]);
}

/** Paths of the installed databases that are wanted. */
function databasesOf(
  address: BaseAddress,
  { cacheDirectory, settings }: Surroundings,
  isWanted: (published: Published) => boolean,
): string[] {
  const folder = folderOf(cacheDirectory, address);
  const databases = installedHead(folder, settings.teamKey)?.databases ?? [];
  return databases
    .filter((published) => isWanted(published) && isInstalled(folder, published))
    .map((published) => databaseIn(folder, published));
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
  const hasChanged = await isChanged(address, folder);
  if (!isNew && !hasChanged && !isDue(folder)) return;
  claimCheck(folder);
  const ended = startJob({ addresses: [address], places }, surroundings);
  if (isMissing || hasChanged) await inTime(ended, PATIENCE_MS, undefined);
}
