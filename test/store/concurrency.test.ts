// @module-tag slow
// Several processes on one file.
import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { DECISION, look, open, startChild, subjectOf, temporaryPath, type Child } from './support.ts';

/** Starts all children at the same moment, and waits for their success. */
async function release(children: readonly Child[]): Promise<void> {
  await Promise.all(children.map((child) => child.says('ready')));
  for (const child of children) child.process.stdin?.end('go\n');
  await Promise.all(children.map((child) => child.done));
}

/** A database of at least 20 records after a kill of its only writer. */
async function leftByKilledWriter(): Promise<string> {
  const path = temporaryPath();
  const child = startChild('put-forever', path);
  await child.says('\n20\n');
  child.process.kill('SIGKILL');
  await child.ended;
  return path;
}

it('lets processes create one database concurrently', async () => {
  for (let round = 0; round < 3; round++) {
    const path = temporaryPath();
    await release([1, 2, 3, 4, 5, 6].map((m) => startChild('create', path, String(m))));
    const store = open(path);
    expect(store.allRecords()).toHaveLength(6);
    expect(look(path, 'PRAGMA integrity_check')).toBe('ok');
    expect(look(path, 'PRAGMA journal_mode')).toBe('wal');
  }
});

it('adds up the misses of four processes', { tags: 'full' }, async () => {
  const path = temporaryPath();
  await release([1, 2, 3, 4].map(() => startChild('count', path, '250')));
  expect(open(path).misses()).toMatchObject([{ count: 1000 }]);
});

it('keeps every acknowledged record of a killed writer', async () => {
  for (const enough of ['\n5\n', '\n50\n', '\n200\n']) {
    const path = temporaryPath();
    const child = startChild('put-forever', path);
    await child.says(enough);
    child.process.kill('SIGKILL');
    // The last line may be incomplete.
    const acknowledged = (await child.ended).split('\n').slice(0, -1);
    expect(look(path, 'PRAGMA integrity_check')).toBe('ok');
    const found = new Set(
      open(path)
        .allRecords()
        .map(({ workload }) => workload),
    );
    expect(acknowledged.filter((m) => !found.has(subjectOf(Number(m)).workload))).toEqual([]);
  }
});

it('lets another process write after a killed one', async () => {
  const path = await leftByKilledWriter();
  const store = open(path);
  const before = store.allRecords().length;
  store.putRecord(subjectOf(1_000_000), DECISION);
  expect(store.allRecords()).toHaveLength(before + 1);
});

it('shows a reader the records of a killed writer', async () => {
  const path = await leftByKilledWriter();
  expect(open(path, { readonly: true }).allRecords().length).toBeGreaterThanOrEqual(20);
});

it('shows the records of a killed writer in a read-only folder', async () => {
  const path = await leftByKilledWriter();
  for (const name of readdirSync(dirname(path))) chmodSync(join(dirname(path), name), 0o444);
  chmodSync(dirname(path), 0o555);
  expect(await startChild('unprivileged-read', path).done).toMatch(/^ok \d+$/);
});

it('reads the database of a killed writer if SQLite cannot create its files', async () => {
  const path = await leftByKilledWriter();
  rmSync(`${path}-shm`);
  chmodSync(dirname(path), 0o555);
  expect(await startChild('unprivileged-read', path).done).toMatch(/^ok [1-9]\d*$/);
  expect(readdirSync(dirname(path)).toSorted()).toEqual(['tuning.db', 'tuning.db-wal']);
});
