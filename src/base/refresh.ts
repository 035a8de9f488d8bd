// Brings a base into the cache folder: asks for the head, verifies it, and unpacks the databases of the wanted places.
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { baseText, type BaseAddress } from '../settings/address.ts';
import { namesIn } from '../system/files.ts';
import { makeFolder } from '../system/folder.ts';
import { sha256 } from '../system/hash.ts';
import { lockOnMachine } from '../system/machine-lock.ts';
import { resultOr } from '../system/result-or.ts';
import { removeLeftovers, replaceFile, temporaryName } from '../system/temporary-files.ts';
import { messageOf } from '../system/tell.ts';
import { UserError } from '../system/user-error.ts';
import { digestIn, readHeadText, type Head, type Place, type Published } from './head.ts';
import {
  databaseIn,
  folderOf,
  headIn,
  installedHead,
  isInstalled,
  lastCheck,
  noteCheck,
  placeName,
  type Checked,
} from './installed.ts';
import { unpack } from './lines.ts';
import { sourceAt, type Access, type Source } from './source.ts';

export interface Refresh extends Access {
  readonly address: BaseAddress;
  readonly cacheDirectory: string;
  /** Targets and compilers to install; those that are installed stay up to date. */
  readonly places: readonly Place[];
}

/** Milliseconds for another process that does the same. */
const PATIENCE_MS = 30_000;

/** @returns why the base could not be brought up to date; null if it is. An earlier one stays */
export async function refresh(wanted: Refresh): Promise<string | null> {
  const { address, cacheDirectory } = wanted;
  const folder = folderOf(cacheDirectory, address);
  makeFolder(folder, 0o700);
  // Users of one machine have cache folders of their own.
  const name = `base-${basename(folder)}-${process.getuid?.() ?? 0}`;
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    using lock = await lockOnMachine(process.env, name, null);
    if (lock !== null) return await refreshAlone(wanted, folder);
    if (Date.now() > end) return `${baseText(address)}: another process is bringing it up to date`;
    await sleep(50);
  }
}

async function refreshAlone({ address, places, ...access }: Refresh, folder: string): Promise<string | null> {
  const before = lastCheck(folder);
  const note = (checked: Omit<Checked, 'at'>) => {
    noteCheck(folder, checked);
    return checked.problem;
  };
  let seen: string | null = null;
  const names = [...new Set([...(before?.places ?? []), ...places.map(placeName)])];
  try {
    const source = sourceAt(address, access);
    // One that another key has signed counts for nothing.
    const known = resultOr(() => installedHead(folder, access.key), null);
    const isWhole = known !== null && needed(known, names).every((one) => isInstalled(folder, one));
    const found = await source.head(isWhole ? (before?.tag ?? null) : null);
    if (found === null) return note({ ...before!, problem: null, places: names });
    seen = found.tag;
    const head = readHeadText(found.text, access.key);
    refuseOlder(head, known, folder);
    for (const published of needed(head, names))
      if (!isInstalled(folder, published)) await install(published, source, folder);
    replaceFile(headIn(folder), found.text);
    removeOthers(folder, needed(head, names));
    return note({ problem: null, tag: seen, seen, places: names });
  } catch (error) {
    const problem = `${baseText(address)}: ${messageOf(error)}`;
    return note({ problem, tag: before?.tag ?? null, seen, places: names });
  }
}

/** A mirror must not bring back what was revoked. */
function refuseOlder(head: Head, known: Head | null, folder: string): void {
  if (known === null || head.sequence > known.sequence) return;
  if (head.sequence === known.sequence && JSON.stringify(head) === JSON.stringify(known)) return;
  throw new UserError(
    `its head has number ${head.sequence}, and number ${known.sequence} of ${known.time} was seen before: a mirror is late, or the base was ` +
      `made again; to accept it, remove ${folder}`,
  );
}

const needed = ({ databases }: Head, names: readonly string[]): readonly Published[] =>
  databases.filter((one) => names.includes(placeName(one)));

async function install(published: Published, source: Source, folder: string): Promise<void> {
  const path = databaseIn(folder, published);
  removeLeftovers(path);
  const [packed, database] = [temporaryName(`${path}.gz`), temporaryName(path)];
  try {
    await source.get(published.file, published.bytes, packed);
    const digest = sha256(readFileSync(packed));
    if (digest !== digestIn(published))
      throw new UserError(`${published.file} is damaged: its digest is ${digest}`);
    await unpack(packed, database, published.size).catch((error: unknown) => {
      throw new UserError(`${published.file}: ${messageOf(error)}`, { cause: error });
    });
    renameSync(database, path);
  } finally {
    for (const one of [packed, database]) rmSync(one, { force: true });
  }
}

/** Removes databases of earlier heads. A build that has one open keeps its content. */
function removeOthers(folder: string, kept: readonly Published[]): void {
  const names = kept.map((one) => basename(databaseIn(folder, one)));
  for (const name of namesIn(folder))
    if (/^[0-9a-f]{64}\.db$/.test(name) && !names.includes(name)) rmSync(join(folder, name), { force: true });
}
