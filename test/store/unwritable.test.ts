// @module-tag slow
// A database without write permission is read in every state of its file.
import { chmodSync, copyFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  DECISION,
  open,
  recorded,
  startChild,
  subjectOf,
  temporaryFolder,
  temporaryPath,
} from './support.ts';

/** Number of records that another user finds, and why the database is read-only for them. */
const opened = (path: string) => startChild('open', path).done;

describe('an unwritable database is read, with a reason', () => {
  test('if the file belongs to another user', async () => {
    const path = recorded();
    chmodSync(dirname(path), 0o755);
    chmodSync(path, 0o644);
    expect(await opened(path)).toMatch(
      /^ok 1, tuning database .* cannot be written \(.*\): .*IREE_TUNED_READONLY=1.*; it is read-only now$/,
    );
  });

  test('if the folder is read-only', async () => {
    const path = recorded();
    chmodSync(path, 0o666);
    chmodSync(dirname(path), 0o555);
    expect(await opened(path)).toMatch(/^ok 1, .* cannot be written/);
    expect(readdirSync(dirname(path))).toEqual(['tuning.db']);
  });

  test('while its owner writes to it', async () => {
    const path = recorded();
    chmodSync(dirname(path), 0o755);
    const writer = open(path);
    writer.putRecord(subjectOf(7), DECISION);
    expect(existsSync(`${path}-wal`)).toBe(true);
    expect(await opened(path)).toMatch(/^ok 2, .* cannot be written/);
    writer.putRecord(subjectOf(8), DECISION);
    expect(writer.allRecords()).toHaveLength(3);
  });

  test.each([['-wal'], ['-wal and -shm']])('if its owner was killed and left %s', async (left) => {
    const path = recorded();
    const writer = open(path);
    writer.putRecord(subjectOf(7), DECISION);
    const copy = join(temporaryFolder(), 'tuning.db');
    for (const more of left === '-wal' ? ['', '-wal'] : ['', '-wal', '-shm'])
      copyFileSync(path + more, copy + more);
    chmodSync(dirname(copy), 0o555);
    const before = readdirSync(dirname(copy));
    expect(await opened(copy)).toMatch(/^ok 2, .* cannot be written/);
    expect(readdirSync(dirname(copy))).toEqual(before);
  });

  test('unless it is missing or unreadable', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o555);
    for (const name of ['tuning.db', 'below/tuning.db'])
      expect(await opened(join(folder, name))).toMatch(/^unwritable .* cannot be written/);
    const path = temporaryPath();
    writeFileSync(path, 'secret');
    chmodSync(path, 0o600);
    chmodSync(dirname(path), 0o755);
    expect(await opened(path)).toMatch(/^unavailable /);
  });
});
