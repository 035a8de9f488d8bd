// Publishes a base: merges what is published, databases, exports and the inbox, and writes the files and the head. It runs at one place at a time.
import type { KeyObject } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange } from '../store/exchange/exchange.ts';
import { importFile, type Imported } from '../store/exchange/files.ts';
import { lineText, type Line, type PartLine } from '../store/exchange/lines.ts';
import { readLine, type Reading } from '../store/exchange/read.ts';
import { openExchange } from '../store/sqlite/exchange.ts';
import { SCHEMA_VERSION } from '../store/sqlite/migrate.ts';
import { namesIn } from '../system/files.ts';
import { makeFolder } from '../system/folder.ts';
import { sha256 } from '../system/hash.ts';
import { resultOr } from '../system/result-or.ts';
import { withScratchFolder } from '../system/scratch.ts';
import { owner } from '../system/temporary-files.ts';
import { orRefusal, refusalOf, writeWhole } from '../system/user-files.ts';
import { messageOf } from '../system/tell.ts';
import { UserError } from '../system/user-error.ts';
import { HEAD, headText, LARGEST_HEAD, readHeadText, type Head, type Place, type Published } from './head.ts';
import { removeOldMisses } from './inbox.ts';
import { placeName } from './installed.ts';
import { Descriptions, lineOfBase, packLines, placeOfLine, unpack } from './lines.ts';
import { INBOX } from './source.ts';

export interface Publication {
  readonly folder: string;
  readonly cacheDirectory: string;
  /** Databases and exports to merge, besides the published lines and the inbox. */
  readonly files?: readonly string[];
  /** Private Ed25519 key; null for a base without a signature. */
  readonly key?: KeyObject | null;
  /** Texts in the keys of compilers that are left out. */
  readonly withoutCompilers?: readonly string[];
  readonly isDry?: boolean;
}

export interface Report {
  /** Number of the current head. */
  readonly sequence: number;
  /** False if nothing is new. */
  readonly isNew: boolean;
  readonly databases: readonly (Published & { readonly claimsBefore: number })[];
  readonly imported: readonly Imported[];
  readonly refused: Inbox['refused'];
}

/** Heads that a rollback can choose from. */
const KEPT_HEADS = 10;
const HEADS = 'heads';
const REFUSED = 'refused';

/** Limits of a file of the inbox: its lines in bytes, and the lines that are refused. */
const INBOX_LIMITS = { most: 2 ** 26, mostRefused: 1000 };

/** @throws UserError, and leaves the folder as it was */
export async function publish({
  folder,
  cacheDirectory,
  files = [],
  key = null,
  withoutCompilers = [],
  isDry = false,
}: Publication): Promise<Report> {
  using _ = isDry ? null : await lockFolder(folder);
  const before = currentHead(folder);
  requireKey(before, key);
  // Not before the lock ends.
  return await withScratchFolder(cacheDirectory, 'publish', async (scratch) => {
    using exchange = openExchange(join(scratch, 'merged.db'));
    for (const published of before?.databases ?? []) {
      const database = join(scratch, 'published.db');
      await unpack(join(folder, published.file), database, published.size).catch((error: unknown) => {
        throw new UserError(
          `${published.file}: ${messageOf(error)}; copy it back, or choose an earlier state with --rollback`,
          { cause: error },
        );
      });
      await importFile(database, exchange, cacheDirectory);
    }
    const imported: Imported[] = [];
    for (const file of files) imported.push(await importFile(file, exchange, cacheDirectory));
    const inbox = await readInbox(folder, exchange, cacheDirectory);
    const places = contentsOf(exchange).filter(
      ({ compiler }) => !withoutCompilers.some((text) => compiler.includes(text)),
    );
    const packed = new Map<string, Buffer>();
    const databases = places.map((place): Published => {
      const same = before?.databases.find(
        (one) => one.content === place.content && one.schema === SCHEMA_VERSION,
      );
      if (same !== undefined) return same;
      const { bytes, size } = packLines(place.lines, join(scratch, `${placeName(place)}.db`));
      const digest = sha256(bytes);
      const file = `${placeName(place)}-${digest}.db.gz`;
      packed.set(file, bytes);
      const { target, compiler, content, claims } = place;
      return { target, compiler, file, bytes: bytes.length, size, content, schema: SCHEMA_VERSION, claims };
    });
    const isNew = JSON.stringify(databases) !== JSON.stringify(before?.databases ?? []);
    let sequence = before?.sequence ?? 0;
    if (isNew && !isDry) {
      for (const [file, bytes] of packed) writeWhole(join(folder, file), bytes);
      sequence = writeHead(folder, databases, before, key);
    }
    if (!isDry) clearInbox(folder, inbox);
    const claimsOf = (place: Published) =>
      before?.databases.find((one) => placeName(one) === placeName(place))?.claims ?? 0;
    return {
      ...{ sequence, isNew, imported: [...imported, ...inbox.taken], refused: inbox.refused },
      databases: databases.map((one) => ({ ...one, claimsBefore: claimsOf(one) })),
    };
  });
}

/**
 * Publishes the databases of an earlier head under a new number.
 * @param wanted number of the head; null for the last one with other databases
 * @returns the numbers of the earlier and the new head
 * @throws UserError
 */
export async function rollBack(
  folder: string,
  wanted: number | null,
  key: KeyObject | null,
): Promise<{ readonly from: number; readonly sequence: number }> {
  using _ = await lockFolder(folder);
  const now = currentHead(folder);
  requireKey(now, key);
  const heads = keptHeads(folder);
  const isWanted = ({ sequence, databases }: Head) =>
    wanted === null ? JSON.stringify(databases) !== JSON.stringify(now?.databases) : sequence === wanted;
  const earlier = heads.findLast(isWanted);
  if (earlier === undefined)
    throw new UserError(
      `${folder} has no such head: it has the numbers ${heads.map(({ sequence }) => sequence).join(', ')}`,
    );
  return { from: earlier.sequence, sequence: writeHead(folder, earlier.databases, now, key) };
}

/** Null for a folder without a head. @throws UserError for an invalid one */
function currentHead(folder: string): Head | null {
  const path = join(folder, HEAD);
  if (!existsSync(path)) return null;
  if (statSync(path).size > LARGEST_HEAD) throw new UserError(`${path} is too large`);
  try {
    return readHeadText(readFileSync(path, 'utf8'), undefined);
  } catch (error) {
    throw new UserError(`${folder}: ${messageOf(error)}; copy the newest file of ${HEADS}/ over it`, {
      cause: error,
    });
  }
}

function requireKey(head: Head | null, key: KeyObject | null): void {
  if (head?.signature !== undefined && key === null)
    throw new UserError(
      'this base is signed, and readers may refuse one without a signature: give its private key with --key',
    );
}

/** The heads that are kept, the oldest first. */
const keptHeads = (folder: string): Head[] =>
  namesIn(join(folder, HEADS))
    .flatMap((name) => {
      const path = join(folder, HEADS, name);
      return resultOr(() => [readHeadText(readFileSync(path, 'utf8'), undefined)], []);
    })
    .sort((a, b) => a.sequence - b.sequence);

/** Writes the head last, so that a reader finds all files that it names. @returns its number */
function writeHead(
  folder: string,
  databases: readonly Published[],
  before: Head | null,
  key: KeyObject | null,
): number {
  // By the clock, so that a base that was made again has a higher number, too.
  const sequence = Math.max((before?.sequence ?? 0) + 1, Math.floor(Date.now() / 1000));
  const text = headText({ sequence, time: new Date().toISOString(), databases }, key);
  makeFolder(join(folder, HEADS));
  writeWhole(join(folder, HEADS, `${sequence}.json`), text);
  writeWhole(join(folder, HEAD), text);
  const heads = keptHeads(folder);
  for (const { sequence: old } of heads.slice(0, -KEPT_HEADS))
    rmSync(join(folder, HEADS, `${old}.json`), { force: true });
  const named = new Set(heads.slice(-KEPT_HEADS).flatMap((head) => head.databases.map(({ file }) => file)));
  for (const name of namesIn(folder))
    if (name.endsWith('.db.gz') && !named.has(name)) rmSync(join(folder, name));
  return sequence;
}

/** The lines of each place, in the order of the keys. */
function contentsOf(exchange: Exchange) {
  const descriptions = new Descriptions();
  /** Revocations, and lines of later versions that name no place. */
  const everywhere: string[] = [];
  const places = new Map<string, Place & { lines: Exclude<Line, PartLine>[]; later: string[] }>();
  const placeAt = ({ target, compiler }: Place) => {
    const name = placeName({ target, compiler });
    const own = places.get(name) ?? { target, compiler, lines: [], later: [] };
    places.set(name, own);
    return own;
  };
  for (const text of exchange.lines({}, () => undefined)) {
    const reading = readLine(text);
    if (reading.outcome === 'refused') continue;
    if (reading.outcome === 'foreign') {
      // A later version reads it.
      const { target, compiler } = JSON.parse(text) as Record<string, unknown>;
      if (typeof target === 'string' && typeof compiler === 'string')
        placeAt({ target, compiler }).later.push(text);
      else everywhere.push(text);
      continue;
    }
    const { line } = reading;
    if ('form' in line) descriptions.add(line, text);
    const kept = lineOfBase(line);
    if (kept === null) continue;
    const place = placeOfLine(kept);
    if (place !== null) placeAt(place).lines.push(kept);
    else if (kept.type === 'revocation') everywhere.push(text);
  }
  return [...places.values()]
    .sort((a, b) => (placeName(a) < placeName(b) ? -1 : 1))
    .map(({ lines: own, later, ...place }) => {
      const lines = [...descriptions.of(own), ...everywhere, ...own.map(lineText), ...later];
      const content = sha256(lines.join('\n'));
      return { ...place, lines, content, claims: own.filter(({ type }) => type === 'claim').length };
    });
}

interface Inbox {
  readonly taken: readonly Imported[];
  /** Files that are no lines. They go to the folder `refused`. */
  readonly refused: readonly { readonly file: string; readonly reason: string }[];
}

/** Merges the files of the inbox. Anybody may have written them. */
async function readInbox(folder: string, exchange: Exchange, cacheDirectory: string): Promise<Inbox> {
  const taken: Imported[] = [];
  const refused: { file: string; reason: string }[] = [];
  for (const name of namesIn(join(folder, INBOX)).sort()) {
    const path = join(folder, INBOX, name);
    if (!name.endsWith('.jsonl.gz')) continue;
    try {
      // A link or a pipe may lead anywhere.
      if (!lstatSync(path).isFile()) throw new UserError(`${path} is no file`);
      taken.push(
        await importFile(path, exchange, cacheDirectory, { ...INBOX_LIMITS, judged: withoutRevocations }),
      );
    } catch (error) {
      refused.push({ file: path, reason: messageOf(error) });
    }
  }
  return { taken, refused };
}

/** Only the publisher's own databases and files revoke. */
const withoutRevocations = (reading: Reading): Reading =>
  reading.outcome === 'line' && reading.line.type === 'revocation'
    ? {
        outcome: 'refused',
        reason: `a revocation of ${reading.line.scope} ${reading.line.value}: the inbox cannot revoke`,
      }
    : reading;

/** Removes what was merged, and puts what is no file of lines aside. */
function clearInbox(folder: string, { taken, refused }: Inbox): void {
  removeOldMisses(folder);
  for (const { from } of taken) rmSync(from, { force: true });
  if (refused.length === 0) return;
  makeFolder(join(folder, REFUSED));
  for (const { file } of refused) renameSync(file, join(folder, REFUSED, basename(file)));
}

/** Age of a lock whose process was killed, and limit of the wait for one, in milliseconds. */
const STALE_MS = 1_800_000;
const PATIENCE_MS = 60_000;

/** Locks a folder, which may be shared by machines, by a file. @throws UserError if another process publishes */
async function lockFolder(folder: string): Promise<Disposable> {
  const path = join(folder, 'publishing.lock');
  const unwritable = `${folder} cannot be written`;
  orRefusal(unwritable, () => {
    makeFolder(folder);
  });
  const release = () => {
    rmSync(path, { force: true });
  };
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      writeFileSync(path, owner(), { flag: 'wx' });
      return { [Symbol.dispose]: release };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
        throw new UserError(`${unwritable}: ${refusalOf(error)}`, { cause: error });
    }
    const status = statSync(path, { throwIfNoEntry: false });
    if (status !== undefined && Date.now() - status.mtimeMs > STALE_MS) release();
    else if (Date.now() > end)
      throw new UserError(`another process publishes into ${folder}; if none does, remove ${path}`);
    else await sleep(200);
  }
}
