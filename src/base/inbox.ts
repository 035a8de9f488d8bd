// The inbox of a base: files of lines that wait for the publisher, and of misses of builds, which wait for a publisher with a fleet.
import { randomBytes } from 'node:crypto';
import { lstatSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { classOr } from '../backend/device.ts';
import type { BaseAddress } from '../settings/address.ts';
import { ownOrigin } from '../store/author.ts';
import { lineText, type Line, type PartLine } from '../store/exchange/lines.ts';
import { readLine } from '../store/exchange/read.ts';
import { openExchange } from '../store/sqlite/exchange.ts';
import { openStore } from '../store/open.ts';
import type { Origin } from '../store/store.ts';
import { isObject } from '../system/data.ts';
import { namesIn, readJson, realpathOr, removeIfPossible } from '../system/files.ts';
import { makeFolder } from '../system/folder.ts';
import { resultOr } from '../system/result-or.ts';
import { replaceFile, temporaryName } from '../system/temporary-files.ts';
import { isSelfContained, type Workload } from '../workload/workload.ts';
import { Descriptions, lineOfBase } from './lines.ts';
import { INBOX, sourceAt, type Access } from './source.ts';

/** File in the base's folder of the cache: when each database was read last. */
const SENT = 'sent.json';

/**
 * Sends what an author has written into a database on this machine since the last call: claims, marks, failed trials and notes; and misses.
 * @param sent the database, and the setting `author`
 * @param folder of the base in the cache
 * @returns the number of lines without descriptions
 * @throws UserError if the inbox refuses the file; then the next call sends the same again
 */
export async function sendToInbox(
  address: BaseAddress,
  { database, author }: { readonly database: string; readonly author?: string | undefined },
  folder: string,
  access: Access,
): Promise<number> {
  const known = readJson(join(folder, SENT));
  const times = isObject(known) ? known : {};
  const name = realpathOr(database);
  const now = new Date().toISOString();
  const last = times[name];
  // A clock that was wrong must not keep records back.
  const since = typeof last === 'string' && last <= now ? last : '';
  const { lines, count } = ownLines(database, since, ownOrigin(author));
  const misses = await missLines(database, since);
  makeFolder(folder, 0o700);
  const put = async (texts: readonly string[], ending: string) => {
    const file = temporaryName(join(folder, 'sent.gz'));
    try {
      writeFileSync(file, gzipSync(`${texts.join('\n')}\n`));
      const stamp = now.replace(/[^0-9TZ]/g, '');
      await sourceAt(address, access).put(`${stamp}-${randomBytes(8).toString('hex')}${ending}`, file);
    } finally {
      removeIfPossible(file);
    }
  };
  if (count > 0) await put(lines, '.jsonl.gz');
  if (misses.length > 0)
    await put(
      misses.map((miss) => JSON.stringify(miss)),
      MISSES,
    );
  replaceFile(join(folder, SENT), JSON.stringify({ ...times, [name]: now }));
  return count;
}

/** Lines of this origin from a time on, with the descriptions that they need. */
function ownLines(database: string, since: string, { createdBy, machine }: Origin) {
  using exchange = openExchange(database, { readonly: true });
  const descriptions = new Descriptions();
  const own: Exclude<Line, PartLine>[] = [];
  for (const text of exchange.lines({}, () => undefined, since)) {
    const reading = readLine(text);
    if (reading.outcome !== 'line') continue;
    const { line } = reading;
    if ('form' in line) descriptions.add(line, text);
    const kept = lineOfBase(line);
    if (kept === null || kept.type === 'revocation') continue;
    if (kept.createdBy === createdBy && kept.machine === machine) own.push(kept);
  }
  return { lines: [...descriptions.of(own), ...own.map(lineText)], count: own.length };
}

/** End of the names of files with misses. */
const MISSES = '.misses.gz';

/** Limits of such a file: its bytes, and the bytes of its lines. */
const [LARGEST_FILE, LARGEST_TEXT] = [2 ** 20, 2 ** 24];

/** A publisher without a fleet removes misses of this age, in milliseconds. */
const OLD_MS = 30 * 24 * 3_600_000;

interface MissLine {
  readonly type: 'miss';
  readonly version: 1;
  readonly target: string;
  readonly compiler: string;
  /** The class of the device; its key if it has none. */
  readonly device: string;
  readonly workload: string;
  readonly form: Workload;
  readonly count: number;
}

/** The misses in a database since an instant. A job describes only self-contained workloads. */
async function missLines(database: string, since: string): Promise<MissLine[]> {
  using store = await openStore(database, { readonly: true });
  return store.misses().flatMap((miss): MissLine[] => {
    const { target, compiler, device, workload, count, lastSeenAt } = miss;
    const subject = lastSeenAt < since ? undefined : store.subject(miss);
    if (subject === undefined || !isSelfContained(subject.workloadForm)) return [];
    const place = { target, compiler, device: classOr(device, subject.deviceForm) };
    return [{ type: 'miss', version: 1, ...place, workload, form: subject.workloadForm, count }];
  });
}

/** Reads the files of misses in an inbox, which anybody may have written. @returns their values, and a function that removes the files */
export function missesIn(folder: string): { readonly values: unknown[]; readonly remove: () => void } {
  const paths = missFiles(folder);
  const values = paths.flatMap((path) =>
    resultOr(() => {
      const status = lstatSync(path);
      // A link or a pipe may lead anywhere.
      if (!status.isFile() || status.size > LARGEST_FILE) return [];
      const text = gunzipSync(readFileSync(path), { maxOutputLength: LARGEST_TEXT }).toString();
      return text.split('\n').flatMap((line) => resultOr(() => [JSON.parse(line) as unknown], []));
    }, []),
  );
  return {
    values,
    remove: () => {
      for (const path of paths) rmSync(path, { force: true });
    },
  };
}

/** Removes misses that no publisher with a fleet wanted. */
export function removeOldMisses(folder: string): void {
  for (const path of missFiles(folder)) {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status !== undefined && Date.now() - status.mtimeMs > OLD_MS) rmSync(path, { force: true });
  }
}

const missFiles = (folder: string): string[] =>
  namesIn(join(folder, INBOX))
    .filter((name) => name.endsWith(MISSES))
    .map((name) => join(folder, INBOX, name));
