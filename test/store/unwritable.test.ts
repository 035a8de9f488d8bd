// @module-tag slow
// A database that the user may read and not write: it is read, whatever state its owner has left it in.
import { chmodSync, copyFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DECISION, open, startChild, SUBJECT, subjectOf, temporaryFolder, temporaryPath } from './support.ts';

/** A database with a record, closed. */
function recorded(): string {
  const path = temporaryPath();
  const store = open(path);
  store.putRecord(SUBJECT, DECISION);
  store.close();
  return path;
}

/** What a user who owns nothing of it finds: how many records, and why they are only read. */
const opened = (path: string) => startChild('unprivileged-open', path).done;

describe('a database that cannot be written is read, and why is said', () => {
  test('where the file is somebody else’s', async () => {
    const path = recorded();
    chmodSync(dirname(path), 0o755);
    chmodSync(path, 0o644);
    expect(await opened(path)).toMatch(
      /^ok 1, tuning database .* cannot be written \(.*\): .*; it is read-only now$/,
    );
  });

  test('where the folder takes no files, as on a read-only disk', async () => {
    const path = recorded();
    chmodSync(path, 0o666);
    chmodSync(dirname(path), 0o555);
    expect(await opened(path)).toMatch(/^ok 1, .* cannot be written/);
    expect(readdirSync(dirname(path))).toEqual(['tuning.db']);
  });

  test('while its owner writes it', async () => {
    const path = recorded();
    chmodSync(dirname(path), 0o755);
    const writer = open(path);
    writer.putRecord(subjectOf(7), DECISION);
    expect(existsSync(`${path}-wal`)).toBe(true);
    expect(await opened(path)).toMatch(/^ok 2, .* cannot be written/);
    writer.putRecord(subjectOf(8), DECISION);
    expect(writer.allRecords()).toHaveLength(3);
  });

  test.each([['-wal'], ['-wal and -shm']])('where its owner was killed, and has left %s', async (left) => {
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

  test('unless there is none, or it cannot be read either', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o555);
    expect(await opened(join(folder, 'tuning.db'))).toMatch(/^unwritable .* cannot be written/);
    const path = temporaryPath();
    writeFileSync(path, 'secret');
    chmodSync(path, 0o600);
    chmodSync(dirname(path), 0o755);
    expect(await opened(path)).toMatch(/^unavailable /);
  });
});
