// Publishing merges by the rules of databases, writes only news, and keeps earlier states.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readHeadText } from '../../src/base/head.ts';
import { publish, rollBack } from '../../src/base/publish.ts';
import type { Line } from '../../src/store/exchange/lines.ts';
import { readLine } from '../../src/store/exchange/read.ts';
import { openExchange } from '../../src/store/sqlite/exchange.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { DECISION, MARK, RUN, subjectOf, TRIAL } from '../store/samples.ts';
import { baseOf, databaseOf, databaseWith, PLACE } from './support.ts';

const cacheDirectory = temporaryDirectory();
const into = (folder: string, ...files: readonly string[]) => publish({ folder, cacheDirectory, files });
const headOf = (folder: string) => readHeadText(readFileSync(join(folder, 'head.json'), 'utf8'), undefined);
const linesOf = (folder: string) =>
  headOf(folder).databases.flatMap(({ file }) => {
    const path = join(temporaryDirectory(), 'base.db');
    writeFileSync(path, gunzipSync(readFileSync(join(folder, file))));
    return exported(path)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; outcome?: string; runs?: unknown[] });
  });
const exported = (database: string): string => {
  using exchange = openExchange(database, { readonly: true });
  return `${[...exchange.lines({}, () => undefined)].join('\n')}\n`;
};

test('databases and exports merge in any order to the same content, which changes only with news', async () => {
  const [a, b] = [databaseOf(16), databaseOf(32, 'bob')];
  const lines = join(temporaryDirectory(), 'b.jsonl');
  writeFileSync(lines, exported(b));
  const [one, other] = [await baseOf(a, b), await baseOf(lines, a)];
  const contents = [one, other].map((folder) => headOf(folder).databases.map(({ content }) => content));
  expect(contents[0]).toEqual(contents[1]);
  const before = headOf(one);
  expect(await into(one, b)).toMatchObject({ isNew: false, sequence: before.sequence });
  expect(headOf(one)).toEqual(before);
  const next = await into(one, databaseOf(64));
  expect(next).toMatchObject({ isNew: true, databases: [{ claims: 3, claimsBefore: 2 }] });
  expect(next.sequence).toBeGreaterThan(before.sequence);
});

test('a base has claims, marks and failures, and neither runs nor measured trials', async () => {
  const database = databaseWith((store) => {
    const subject = subjectOf(16);
    store.putRecord(subject, DECISION);
    store.addMarks(subject, [MARK]);
    store.addTrials(subject, [TRIAL, { ...TRIAL, outcome: 'timeout', seconds: null, ratio: null }]);
    store.addRuns(subject, [RUN]);
  });
  const lines = linesOf(await baseOf(database));
  const types = lines.map(({ type, outcome = '' }) => `${type} ${outcome}`.trim());
  expect(types).toEqual(['workload', 'target', 'device', 'compiler', 'claim', 'mark', 'trial timeout']);
  expect(lines.every(({ runs = [] }) => runs.length === 0)).toBe(true);
});

test('each target and compiler has a file of its own, and a compiler can be left out', async () => {
  const database = databaseWith((store) => {
    for (const compiler of ['3.12.0@aaa', '3.13.0@bbb'])
      store.putRecord(subjectOf(16, { compiler, compilerForm: {} }), DECISION);
  });
  const folder = await baseOf(database);
  expect(headOf(folder).databases).toHaveLength(2);
  const without = await publish({ folder, cacheDirectory, withoutCompilers: ['3.12'] });
  expect(without.databases.map(({ compiler }) => compiler)).toEqual(['3.13.0@bbb']);
});

test('a dry run writes nothing', async () => {
  const folder = join(temporaryDirectory(), 'new');
  const report = await publish({ folder, cacheDirectory, files: [databaseOf(16)], isDry: true });
  expect([report.isNew, existsSync(folder)]).toEqual([true, false]);
});

test('a rollback publishes an earlier state under a new number', async () => {
  const folder = await baseOf(databaseOf(16));
  const good = headOf(folder);
  await into(folder, databaseOf(32));
  const bad = headOf(folder);
  expect(await rollBack(folder, null, null)).toMatchObject({ from: good.sequence });
  expect(headOf(folder).databases).toEqual(good.databases);
  expect(headOf(folder).sequence).toBeGreaterThan(bad.sequence);
  expect(await rollBack(folder, bad.sequence, null)).toMatchObject({ from: bad.sequence });
  await expect(rollBack(folder, 1, null)).rejects.toThrow(/has no such head: it has the numbers/);
});

test('ten states are kept with their files', { tags: 'full' }, async () => {
  const folder = temporaryDirectory();
  for (let m = 1; m <= 12; m++) await into(folder, databaseOf(m));
  expect(readdirSync(join(folder, 'heads'))).toHaveLength(10);
  expect(readdirSync(folder).filter((name) => name.endsWith('.db.gz'))).toHaveLength(10);
});

test('hostile files of the inbox are put aside, and lines that are invalid or revoke are refused', async () => {
  const folder = await baseOf(databaseOf(16));
  const inbox = join(folder, 'inbox');
  mkdirSync(inbox);
  const revoking = { type: 'revocation', version: 1, scope: 'origin', value: 'ada', reason: 'a joke' };
  const line = JSON.stringify({ ...revoking, createdAt: '2026-01-31T08:00:00.000Z', createdBy: 'eve' });
  writeFileSync(
    join(inbox, 'revoking.jsonl.gz'),
    gzipSync(`${line}\n${exported(databaseOf(32, 'bob'))}no line\n`),
  );
  writeFileSync(join(inbox, 'bomb.jsonl.gz'), gzipSync(Buffer.alloc(2 ** 26, 'a\n')));
  writeFileSync(join(inbox, 'cut.jsonl.gz'), gzipSync(exported(databaseOf(64))).subarray(0, 200));
  symlinkSync('/etc/passwd', join(inbox, 'link.jsonl.gz'));
  execFileSync('mkfifo', [join(inbox, 'pipe.jsonl.gz')]);
  const report = await into(folder);
  expect(report.databases).toMatchObject([{ claims: 2, claimsBefore: 1 }]);
  const { problems } = report.imported[0]!;
  expect(problems[0]).toMatch(/a revocation of origin ada: the inbox cannot revoke/);
  expect(problems).toHaveLength(2);
  expect(report.refused.map(({ file }) => file.slice(inbox.length + 1))).toEqual([
    ...['bomb.jsonl.gz', 'cut.jsonl.gz', 'link.jsonl.gz', 'pipe.jsonl.gz'],
  ]);
  expect(readdirSync(inbox)).toEqual([]);
});

test('a revocation is published, and hides the record in all databases', async () => {
  const database = databaseOf(16);
  const folder = await baseOf(database);
  const exchange = openExchange(database);
  const at = { createdAt: '2026-01-31T08:00:00.000Z', createdBy: 'bob' };
  const line: Line = {
    type: 'revocation',
    version: 1,
    scope: 'origin',
    value: 'ada',
    reason: 'wrong',
    ...at,
  };
  exchange.receive([{ outcome: 'line', line }]);
  exchange.close();
  expect(await into(folder, database)).toMatchObject({ isNew: true });
  expect(linesOf(folder).map(({ type }) => type)).toContain('revocation');
});

test('one process publishes at a time, and a lock of a killed one ends after half an hour', async () => {
  const folder = await baseOf(databaseOf(16));
  const all = await Promise.all([into(folder, databaseOf(32)), into(folder, databaseOf(64))]);
  expect(all.every(({ isNew }) => isNew)).toBe(true);
  expect(headOf(folder).databases).toMatchObject([{ claims: 3 }]);
  const lock = join(folder, 'publishing.lock');
  expect(existsSync(lock)).toBe(false);
  writeFileSync(lock, '');
  const old = Date.now() / 1000 - 2000;
  utimesSync(lock, old, old);
  expect(await into(folder)).toMatchObject({ isNew: false });
});

test('a damaged head is not replaced', async () => {
  const folder = await baseOf(databaseOf(16));
  writeFileSync(join(folder, 'head.json'), '{');
  await expect(into(folder, databaseOf(32))).rejects.toThrow(/is damaged.*copy the newest file of heads\//);
});

test('an inbox of many files', { timeout: 600_000, tags: ['full'] }, async () => {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, 'inbox'));
  const texts = Array.from({ length: 100 }, (_, m) => gzipSync(exported(databaseOf(m + 1))));
  for (let i = 0; i < 10_000; i++) writeFileSync(join(folder, 'inbox', `${i}.jsonl.gz`), texts[i % 100]!);
  expect(await into(folder)).toMatchObject({ databases: [{ claims: 100 }] });
  expect(readdirSync(join(folder, 'inbox'))).toEqual([]);
});

test('a base with a missing file is not replaced by less', async () => {
  const folder = await baseOf(databaseOf(16));
  rmSync(join(folder, headOf(folder).databases[0]!.file));
  await expect(into(folder, databaseOf(32))).rejects.toThrow(
    /copy it back, or choose an earlier state with --rollback/,
  );
});

test('lines of later versions stay in a base', async () => {
  const database = databaseOf(16);
  const exchange = openExchange(database);
  const { target, compiler } = PLACE;
  const later = [
    { type: 'dream', version: 1, target, compiler },
    { type: 'dream', version: 1 },
  ].map((line) => JSON.stringify(line));
  exchange.receive(later.map((line) => readLine(line)));
  exchange.close();
  const folder = await baseOf(database);
  await into(folder, databaseOf(32));
  const dreams = linesOf(folder).filter(({ type }) => type === 'dream');
  expect(dreams.map((line) => JSON.stringify(line)).sort()).toEqual(later.sort());
});
