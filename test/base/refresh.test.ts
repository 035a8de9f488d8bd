// A base comes into the cache folder whole and verified, or the earlier one stays and the reason is named.
import { generateKeyPairSync } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { sendToInbox } from '../../src/base/inbox.ts';
import { checkedIn, folderOf, isDue, lastCheck } from '../../src/base/installed.ts';
import { withBases } from '../../src/base/open.ts';
import { publish } from '../../src/base/publish.ts';
import type { BaseAddress } from '../../src/settings/address.ts';
import { ownOrigin, userName, writtenNow } from '../../src/store/author.ts';
import { importFile } from '../../src/store/exchange/files.ts';
import { openExchange } from '../../src/store/sqlite/exchange.ts';
import { readSettings } from '../../src/settings/index.ts';
import { fileIdentity } from '../../src/system/files.ts';
import { root, temporaryDirectory } from '../support/folders.ts';
import { DECISION, subjectOf } from '../store/samples.ts';
import { baseOf, databaseOf, databaseWith, PLACE, reader, served, type Fault } from './support.ts';

const more = (folder: string, ...files: readonly string[]) =>
  publish({ folder, cacheDirectory: temporaryDirectory(), files });

/** Rows that the installed base has. */
async function rowsIn(address: BaseAddress, cacheDirectory: string, teamKey?: string): Promise<number[]> {
  const settings = { ...readSettings({}, new Map()).settings, bases: [address], teamKey };
  // Nothing is asked for again.
  const store = await withBases(null, [PLACE], { env: process.env, settings, root, cacheDirectory });
  const found = [16, 32, 64].filter(
    (m) => (store?.findRecords([subjectOf(m).workload], PLACE.target, PLACE.compiler).length ?? 0) > 0,
  );
  store?.close();
  return found;
}

test('a base comes from a folder, and from a web server with one conditional request', async () => {
  const folder = await baseOf(databaseOf(16));
  const { address, asked } = await served(folder);
  for (const from of [{ kind: 'folder', path: folder } as const, address]) {
    const { refresh, cacheDirectory } = reader(from);
    expect(await refresh()).toBeNull();
    expect(await rowsIn(from, cacheDirectory)).toEqual([16]);
    asked();
    expect(await refresh()).toBeNull();
    expect(asked()).toEqual(from === address ? ['GET /head.json'] : []);
  }
  const { refresh, cacheDirectory } = reader(address);
  await refresh();
  await more(folder, databaseOf(32));
  expect(await refresh()).toBeNull();
  expect(await rowsIn(address, cacheDirectory)).toEqual([16, 32]);
  // The earlier database is gone.
  expect(readdirSync(folderOf(cacheDirectory, address)).filter((name) => name.endsWith('.db'))).toHaveLength(
    1,
  );
});

/** Writes a part of a file. */
const cutOff: Fault = (_, response, path) => {
  if (!path.endsWith('.gz')) return false;
  const content = readFileSync(path);
  response.writeHead(200).end(content.subarray(0, content.length / 2));
  return true;
};
const damaged: Fault = (_, response, path) => {
  if (!path.endsWith('.gz')) return false;
  const content = readFileSync(path);
  content[content.length - 1]! ^= 1;
  response.writeHead(200).end(content);
  return true;
};
const longer: Fault = (_, response, path) => {
  if (!path.endsWith('.gz')) return false;
  response.writeHead(200).end(Buffer.concat([readFileSync(path), Buffer.alloc(1000)]));
  return true;
};
const answering =
  (status: number, headers: Record<string, string> = {}, text = ''): Fault =>
  (_, response) => {
    response.writeHead(status, headers).end(text);
    return true;
  };

describe('the earlier base stays', () => {
  test.each<[string, Fault, RegExp]>([
    ['a file is cut off', cutOff, /is cut off: \d+ of \d+ bytes/],
    ['a file is damaged', damaged, /is damaged: its digest is/],
    ['a file is longer', longer, /is longer than its head says/],
    ['the server fails', answering(500), /head\.json: 500/],
    [
      'it redirects',
      answering(302, { location: 'http://127.0.0.2/' }),
      /redirects to http:\/\/127\.0\.0\.2\/: set team/,
    ],
    ['it wants a token', answering(401), /401 .*: set team-token/],
    ['another page answers', answering(200, {}, '<html>'), /is no JSON/],
    ['the head is of a later version', answering(200, {}, '{"format": 2}'), /format 2, of a later version/],
    ['the head is invalid', answering(200, {}, '{"format": 1, "databases": []}'), /head\.json is invalid/],
    ['the head is too large', answering(200, {}, ' '.repeat(5_000_000)), /is too large/],
  ])('if %s', async (_, fault, problem) => {
    const folder = await baseOf(databaseOf(16));
    let isBroken = false;
    const { address, url } = await served(folder, (...request) => isBroken && fault(...request));
    const { refresh, cacheDirectory } = reader(address);
    expect(await refresh()).toBeNull();
    await more(folder, databaseOf(32));
    isBroken = true;
    const found = await refresh();
    expect(found).toMatch(problem);
    expect(found).toContain(url);
    expect(await rowsIn(address, cacheDirectory)).toEqual([16]);
    isBroken = false;
    expect(await refresh()).toBeNull();
    expect(await rowsIn(address, cacheDirectory)).toEqual([16, 32]);
  });

  test('if the server is gone', async () => {
    const { address, close } = await served(await baseOf(databaseOf(16)));
    const { refresh, cacheDirectory } = reader(address);
    await refresh();
    close();
    expect(await refresh()).toMatch(/ECONNREFUSED|closed/);
    expect(await rowsIn(address, cacheDirectory)).toEqual([16]);
  });

  test('if a mirror shows an older head', async () => {
    const folder = await baseOf(databaseOf(16));
    const old = temporaryDirectory();
    cpSync(folder, old, { recursive: true });
    const { refresh, cacheDirectory } = reader({ kind: 'folder', path: folder });
    await more(folder, databaseOf(32));
    await refresh();
    for (const name of readdirSync(old)) cpSync(join(old, name), join(folder, name), { recursive: true });
    expect(await refresh()).toMatch(/its head has number \d+, and number \d+ of .* was seen before/);
    // Builds do not ask for the same head again before the time.
    const checked = lastCheck(folderOf(cacheDirectory, { kind: 'folder', path: folder }));
    expect(checked?.seen).toBe(fileIdentity(join(folder, 'head.json')));
    expect(await rowsIn({ kind: 'folder', path: folder }, cacheDirectory)).toEqual([16, 32]);
  });
});

describe('a signed base', () => {
  const pair = generateKeyPairSync('ed25519');
  const publicText = (key: typeof pair) =>
    key.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  const key = publicText(pair);

  test('is used with its key, and not with another one or without a signature', async () => {
    const folder = temporaryDirectory();
    const address = { kind: 'folder', path: folder } as const;
    const publication = { folder, cacheDirectory: temporaryDirectory(), files: [databaseOf(16)] };
    await publish({ ...publication, key: pair.privateKey });
    const { refresh, cacheDirectory } = reader(address, { key });
    expect(await refresh()).toBeNull();
    expect(await rowsIn(address, cacheDirectory, key)).toEqual([16]);
    const other = publicText(generateKeyPairSync('ed25519'));
    expect(await refresh({ key: other })).toMatch(/does not fit the setting team-key/);
    expect(await rowsIn(address, cacheDirectory, other)).toEqual([]);
    await expect(publish(publication)).rejects.toThrow(/this base is signed/);

    const path = join(folder, 'head.json');
    const head = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    writeFileSync(path, JSON.stringify({ ...head, sequence: (head['sequence'] as number) + 1 }));
    expect(await refresh()).toMatch(/does not fit the setting team-key/);
    writeFileSync(path, JSON.stringify({ ...head, signature: undefined }));
    expect(await refresh()).toMatch(/is not signed/);
  });
});

test('a token goes to the server, and no unsafe http:// is used without a key', async () => {
  const folder = await baseOf(databaseOf(16));
  const { address } = await served(folder, ({ headers }, response) => {
    if (headers.authorization === 'Bearer secret') return false;
    response.writeHead(403).end();
    return true;
  });
  const { refresh } = reader(address, { token: 'echo secret' });
  expect(await refresh({ token: 'echo other' })).toMatch(/403 .*: the token is refused/);
  expect(await refresh({ token: 'exit 3' })).toMatch(/the command of team-token failed/);
  expect(await refresh()).toBeNull();
  const unsafe = reader({ kind: 'web', url: 'http://tuning.example.com/' });
  expect(await unsafe.refresh()).toMatch(/use https:\/\/, or set team-key/);
});

test('a head that was asked for within ten minutes is not due, whatever the clock says', async () => {
  const { refresh, cacheDirectory } = reader({ kind: 'folder', path: '/no/such/folder' });
  const folder = folderOf(cacheDirectory, { kind: 'folder', path: '/no/such/folder' });
  expect(isDue(folder)).toBe(true);
  expect(await refresh()).toMatch(/\/no\/such\/folder: there is no such file or folder/);
  expect(isDue(folder)).toBe(false);
  const year = 365 * 86_400;
  for (const change of [-year, year]) {
    const time = Date.now() / 1000 + change;
    utimesSync(checkedIn(folder), time, time);
    expect(isDue(folder)).toBe(true);
  }
});

test('the inbox of a web server gets new records once', async () => {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, 'inbox'));
  const { address, asked } = await served(folder);
  const cache = temporaryDirectory();
  const own = databaseWith((store) => {
    store.putRecord(subjectOf(16), { ...DECISION, ...writtenNow() });
  }, ownOrigin());
  // A record of another machine stays out.
  const exchange = openExchange(own);
  await importFile(databaseOf(32), exchange, cache);
  exchange.close();
  expect(await sendToInbox(address, { database: own }, cache, {})).toBe(1);
  expect(await sendToInbox(address, { database: own }, cache, {})).toBe(0);
  expect(asked()).toEqual([expect.stringMatching(/^PUT \/inbox\/\d+T\d+Z-[0-9a-f]{16}\.jsonl\.gz$/)]);
  // A clock that was a year ahead does not keep records back.
  const times = join(cache, 'sent.json');
  writeFileSync(times, readFileSync(times, 'utf8').replace(/"20\d\d/, '"2999'));
  expect(await sendToInbox(address, { database: own }, cache, {})).toBe(1);
  await more(folder);
  const { refresh, cacheDirectory } = reader(address);
  expect(await refresh()).toBeNull();
  expect(await rowsIn(address, cacheDirectory)).toEqual([16]);
});

test('the inbox gets the records of the author in the settings', async () => {
  const folder = temporaryDirectory();
  const author = 'a kestrel';
  const database = databaseWith((store) => {
    store.putRecord(subjectOf(16), { ...DECISION, ...writtenNow() });
  }, ownOrigin(author));
  const send = (sent: Parameters<typeof sendToInbox>[1]) =>
    sendToInbox({ kind: 'folder', path: folder }, sent, temporaryDirectory(), {});
  expect(await send({ database })).toBe(0);
  expect(await send({ database, author })).toBe(1);
  const [file] = readdirSync(join(folder, 'inbox'));
  const text = gunzipSync(readFileSync(join(folder, 'inbox', file!))).toString();
  expect(text).toContain(`"createdBy":"${author}"`);
  expect(text).not.toContain(`"createdBy":"${userName()}"`);
});

test('a database in the cache belongs to the user alone', async () => {
  const folder = await baseOf(databaseOf(16));
  const { refresh, cacheDirectory } = reader({ kind: 'folder', path: folder });
  await refresh();
  expect(statSync(folderOf(cacheDirectory, { kind: 'folder', path: folder })).mode & 0o777).toBe(0o700);
  rmSync(folder, { recursive: true });
});

test('a build does not wait for a server that sends a byte now and then', async () => {
  const { address } = await served(await baseOf(databaseOf(16)), (_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(' '), 100);
    response.on('close', () => {
      clearInterval(timer);
    });
    return true;
  });
  const cacheDirectory = temporaryDirectory();
  const settings = { ...readSettings({}, new Map()).settings, bases: [address] };
  const surroundings = { env: process.env, settings, root, cacheDirectory };
  const begun = performance.now();
  expect(await withBases(null, [PLACE], surroundings)).toBeNull();
  // The limit is 2 s; a busy machine gets some more.
  expect(performance.now() - begun).toBeLessThan(15_000);
});
