// @module-tag slow
// Several processes on one file.
// In full after a change of src/store/sqlite.
import { expect, it } from 'vitest';
import { casesOfTier } from '../support/needs.ts';
import { DECISION, look, open, startChild, subjectOf, temporaryPath, type Child } from './support.ts';

/** Starts all children at the same moment, and waits for their success. */
async function release(children: readonly Child[]): Promise<void> {
  await Promise.all(children.map((child) => child.says('ready')));
  for (const child of children) child.process.stdin?.end('go\n');
  await Promise.all(children.map((child) => child.done));
}

it.each(casesOfTier([1, 2, 3], 1))('lets processes create one database concurrently, round %d', async () => {
  const path = temporaryPath();
  await release([1, 2, 3, 4, 5, 6].map((m) => startChild('create', path, String(m))));
  const store = open(path);
  expect(store.allRecords()).toHaveLength(6);
  expect(look(path, 'PRAGMA integrity_check')).toBe('ok');
  expect(look(path, 'PRAGMA journal_mode')).toBe('wal');
});

it('adds up the misses of four processes', { tags: 'full' }, async () => {
  const path = temporaryPath();
  await release([1, 2, 3, 4].map(() => startChild('count', path, '250')));
  expect(open(path).misses()).toMatchObject([{ count: 1000 }]);
});

it('keeps every acknowledged record of a killed writer, for readers and for the next writer', async () => {
  for (const enough of ['\n5\n', '\n50\n', '\n200\n']) {
    const path = temporaryPath();
    const child = startChild('put-forever', path);
    await child.says(enough);
    child.process.kill('SIGKILL');
    // The last line may be incomplete.
    const acknowledged = (await child.ended).split('\n').slice(0, -1);
    for (const readonly of [true, false]) {
      const store = open(path, { readonly });
      const found = new Set(store.allRecords().map(({ workload }) => workload));
      expect(acknowledged.filter((m) => !found.has(subjectOf(Number(m)).workload))).toEqual([]);
      if (readonly) continue;
      store.putRecord(subjectOf(1_000_000), DECISION);
      expect(store.allRecords()).toHaveLength(found.size + 1);
    }
    expect(look(path, 'PRAGMA integrity_check')).toBe('ok');
  }
});
