// The inbox of a base: files of lines that wait for the publisher.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { BaseAddress } from '../settings/bases.ts';
import { ownOrigin } from '../store/author.ts';
import { lineText, type Line, type PartLine } from '../store/exchange/lines.ts';
import { readLine } from '../store/exchange/read.ts';
import { openExchange } from '../store/open-exchange.ts';
import type { Origin } from '../store/store.ts';
import { isObject } from '../system/data.ts';
import { readJson, realpathOr, removeIfPossible } from '../system/files.ts';
import { makeFolder } from '../system/folder.ts';
import { replaceFile, temporaryName } from '../system/temporary-files.ts';
import { Descriptions, lineOfBase } from './lines.ts';
import { MISSES, missLines } from './misses.ts';
import { sourceAt, type Access } from './source.ts';

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
