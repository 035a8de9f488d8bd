// @module-tag slow
// Every fault of the file is one kind of error, which names the file and the way out. unwritable.test.ts has missing permissions.
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SCHEMA_VERSION } from '../../src/store/sqlite/migrate.ts';
import {
  DECISION,
  MARK,
  SUBJECT,
  alter,
  failure,
  look,
  open,
  recorded,
  startChild,
  temporaryFolder,
  temporaryPath,
} from './support.ts';

describe.each([{ readonly: false }, { readonly: true }])('with %j', (options) => {
  it.each([
    ['noise', Buffer.alloc(10_000, 'not a database ')],
    ['a short text', Buffer.from('my notes')],
  ])('calls a file of %s damaged, and does not change it', (_, content) => {
    const path = temporaryPath();
    writeFileSync(path, content);
    const error = failure('damaged', path, () => open(path, options));
    expect(error.message).toContain('is no database, or is damaged (file is not a database): ');
    expect(readFileSync(path).equals(content)).toBe(true);
  });

  it('calls a truncated file damaged', () => {
    const path = recorded();
    truncateSync(path, 9000);
    failure('damaged', path, () => open(path, options).allRecords());
  });

  it('calls a database without its tables damaged', () => {
    const path = recorded();
    alter(path, 'DROP TABLE claim');
    const store = open(path, options);
    failure('damaged', path, () => store.allRecords());
  });

  it.each([
    ['tables', 'CREATE TABLE bookmark (url)'],
    ['an application id', 'PRAGMA application_id = 252006674'],
    ['a schema version', 'PRAGMA user_version = 1'],
  ])('calls a database with only %s of another program foreign, and does not change it', (_, sql) => {
    const path = temporaryPath();
    alter(path, sql);
    const before = readFileSync(path);
    failure('foreign', path, () => open(path, options));
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('calls a folder foreign', () => {
    const path = temporaryFolder();
    failure('foreign', path, () => open(path, options));
  });
});

describe('opened for writing', () => {
  it('calls a database of a later schema a future one', () => {
    const path = recorded();
    alter(path, 'PRAGMA user_version = 99');
    const error = failure('future', path, () => open(path));
    expect(error.message).toContain(
      `(schema 99, this one knows ${SCHEMA_VERSION}): update iree-compile-tuned, or set IREE_TUNED_DB`,
    );
  });

  it('initialises an empty file, and an empty SQLite database', () => {
    const [file, database] = [temporaryPath(), temporaryPath()];
    writeFileSync(file, '');
    alter(database, 'VACUUM');
    for (const path of [file, database]) expect(open(recorded(path)).allRecords()).toHaveLength(1);
  });

  it('calls a path below a file unwritable', () => {
    const file = temporaryPath();
    writeFileSync(file, '');
    const path = join(file, 'folder', 'tuning.db');
    failure('unwritable', path, () => open(path));
  });
});

describe('opened for reading', () => {
  it.each([
    ['does not exist', 'missing.db'],
    ['lies in a folder that does not exist', 'no/such/folder/missing.db'],
  ])('calls a file that %s unavailable, and creates none', (_, name) => {
    const folder = temporaryFolder();
    const path = join(folder, name);
    failure('unavailable', path, () => open(path, { readonly: true }));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('calls an empty file, and a path below it, unavailable', () => {
    const file = temporaryPath();
    writeFileSync(file, '');
    for (const path of [file, join(file, 'tuning.db')])
      failure('unavailable', path, () => open(path, { readonly: true }));
  });

  it('reads a database of more than 64 MiB in any folder', async () => {
    const path = recorded();
    alter(path, 'CREATE TABLE ballast AS SELECT zeroblob(70000000)');
    expect(open(path, { readonly: true }).allRecords()).toHaveLength(1);
    chmodSync(path, 0o444);
    chmodSync(dirname(path), 0o555);
    expect(await startChild('open', path).done).toMatch(/^ok 1, /);
  });

  it('leaves no files beside the database', () => {
    const path = recorded();
    const store = open(path, { readonly: true });
    expect(store.allRecords()).toHaveLength(1);
    store.close();
    expect(readdirSync(dirname(path))).toEqual(['tuning.db']);
  });

  it('refuses every write with a reason, and changes nothing', () => {
    const path = recorded();
    const before = readFileSync(path);
    const store = open(path, { readonly: true });
    for (const write of [
      () => {
        store.putRecord(SUBJECT, DECISION);
      },
      () => {
        store.addMarks(SUBJECT, [MARK]);
      },
      () => {
        store.noteUndecided(SUBJECT, 'too slow', 60);
      },
      () => {
        store.noteMiss(SUBJECT);
      },
    ]) {
      expect(failure('unwritable', path, write).message).toContain('unset IREE_TUNED_READONLY');
    }
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('sees the commits of an active writer, also through a link', () => {
    const path = temporaryPath();
    const writer = open(path);
    writer.putRecord(SUBJECT, DECISION);
    const link = join(temporaryFolder(), 'link.db');
    symlinkSync(path, link);
    for (const one of [path, link]) expect(open(one, { readonly: true }).allRecords()).toHaveLength(1);
  });
});

describe('while another process holds the lock', () => {
  const held = async (...what: string[]) => {
    const path = recorded();
    const holder = startChild('hold', path, ...what);
    await holder.says('ready');
    return { path, holder };
  };

  it('reads during a write', async () => {
    const { path } = await held();
    expect(open(path, { busyTimeoutMs: 100 }).allRecords()).toHaveLength(1);
  });

  it('fails to write after the busy timeout', async () => {
    const { path } = await held();
    const store = open(path, { busyTimeoutMs: 200 });
    const start = performance.now();
    const error = failure('locked', path, () => {
      store.noteMiss(SUBJECT);
    });
    expect(performance.now() - start).toBeGreaterThan(150);
    expect(error.message).toContain('waited 200 ms');
  });

  it('fails to open after the busy timeout of an exclusive lock', async () => {
    const { path } = await held('everything');
    failure('locked', path, () => open(path, { busyTimeoutMs: 100 }));
  });

  it('writes after the lock is released in time', async () => {
    const { path, holder } = await held();
    const store = open(path, { busyTimeoutMs: 20_000 });
    holder.process.stdin?.end('go\n');
    await holder.says('releasing soon');
    store.noteMiss(SUBJECT);
    expect(store.misses()).toMatchObject([{ count: 1 }]);
  });
});

it('throws StoreError for a closed store, which can be closed again', () => {
  const path = recorded();
  const store = open(path);
  store.close();
  store.close();
  failure('unavailable', path, () => store.allRecords());
});

it('writes application id and schema version to the file', () => {
  const path = recorded();
  expect(look(path, 'PRAGMA application_id')).toBe(0x49524574);
  expect(look(path, 'PRAGMA user_version')).toBe(SCHEMA_VERSION);
});

it('opens a path relative to the working directory', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'data'));
  const path = join(folder, 'data', 'tuning.db');
  recorded(relative(process.cwd(), path));
  expect(open(path).allRecords()).toHaveLength(1);
});
