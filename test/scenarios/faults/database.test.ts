// In full after a change of src/store/open.ts, src/store/sqlite.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts';
import { compiler, root } from '../../support/real-tools.ts';
import { type Workplace, WRAPPER, argv } from '../support.ts';
import { expectStockBuild, recordedWorkplace, workplace } from './support.ts';
import { casesOfTier, isFull } from '../../support/needs.ts';

/** User id of `nobody` on Unix, because root may write everywhere. */
const UNPRIVILEGED = process.getuid?.() === 0 ? 65534 : undefined;

/** Whether this user can read our programs. */
function isUsable(): boolean {
  if (UNPRIVILEGED === undefined) return process.getuid !== undefined;
  return spawnSync(WRAPPER, ['--version'], { uid: UNPRIVILEGED, cwd: '/' }).status === 0;
}

// A folder that cannot be created is in surroundings.test.ts, and test/store/faults.test.ts has more faults.
describe('a build with an unusable database goes on without tuning', () => {
  const damages: [string, (place: Workplace) => void, RegExp][] = [
    [
      'from the future',
      (place) => {
        const database = new Database(place.database);
        database.pragma('application_id = 1230128500');
        database.pragma('user_version = 999');
        database.close();
      },
      /was written by a newer iree-compile-tuned/,
    ],
    [
      'a folder',
      (place) => {
        mkdirSync(place.database);
      },
      /is not a file/,
    ],
    [
      "somebody else's",
      (place) => {
        const database = new Database(place.database);
        database.exec('CREATE TABLE songs (title TEXT)');
        database.close();
      },
      /is a SQLite database of another program/,
    ],
    [
      'with an endless view in place of a table',
      (place) => {
        openSqliteStore(place.database).close();
        const database = new Database(place.database);
        database.exec(`DROP TABLE workload; CREATE VIEW workload AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
          SELECT i AS id, i AS key, i AS form FROM n`);
        database.close();
      },
      /has a schema that this program does not make, .*\(CREATE VIEW workload/,
    ],
  ];
  test.each(casesOfTier(damages, 1))('%s', async (_, damage, reason) => {
    const place = workplace();
    mkdirSync(join(place.folder, 'data'));
    damage(place);
    const explanation = await expectStockBuild(place);
    expect(explanation.operations[0]!.reason).toMatch(reason);
  });
});

describe('a database with a record', () => {
  test('that was truncated gives a build without tuning, and stays unchanged', async () => {
    const place = await recordedWorkplace();
    truncateSync(place.database, 20_000);
    const before = readFileSync(place.database);
    const explanation = await expectStockBuild(place);
    expect(explanation.operations[0]!.reason).toMatch(/damaged/);
    expect(readFileSync(place.database).equals(before)).toBe(true);
  });

  test('that another process keeps locked gives a build without tuning', async () => {
    const place = await recordedWorkplace();
    const holder = new Database(place.database);
    onTestFinished(() => {
      holder.close();
    });
    holder.pragma('locking_mode = EXCLUSIVE');
    holder.exec('BEGIN EXCLUSIVE');
    const explanation = await expectStockBuild(place);
    expect(explanation.operations[0]!.reason).toMatch(/locked by another process/);
  });

  test.runIf(isFull && isUsable())('in a read-only folder is read', { tags: 'full' }, async () => {
    const place = await recordedWorkplace({ IREE_TUNED_COMPILER: compiler.executable });
    chmodSync(place.folder, 0o777);
    chmodSync(join(place.folder, 'data'), 0o555);
    onTestFinished(() => {
      chmodSync(join(place.folder, 'data'), 0o755);
    });
    const env = { IREE_TUNED_CACHE: join(place.folder, 'own-cache') };
    const log = join(place.folder, 'log');
    const told = await place.explain(argv, { uid: UNPRIVILEGED, env: { ...env, IREE_TUNED_LOG: log } });
    expect(told.explanation.operations[0]!.outcome).toBe('hit');
    expect(readFileSync(log, 'utf8')).toMatch(/cannot be written \(.*; it is read-only now\n/);
    // Misses are compiled without tuning.
    place.write('in.mlir', place.read('in.mlir').toString().replaceAll('71', '73'));
    const explanation = await expectStockBuild(place, env, { uid: UNPRIVILEGED });
    expect(explanation.operations[0]!.code).toBe('read-only');
  });

  test(
    'of an earlier version is migrated once, and the log has the path of the old copy',
    { tags: 'full' },
    async () => {
      const place = await recordedWorkplace();
      const database = new Database(place.database);
      // Later migrations create a table of shapes, and change the table of notes, which this migration makes again.
      database.exec('DROP TABLE shape');
      database.exec(readFileSync(join(root, 'db/migrations/0008_program_times.sql'), 'utf8'));
      database.pragma('user_version = 8');
      database.close();
      const log = join(place.folder, 'log');
      for (let build = 0; build < 2; build++) {
        const told = await place.explain(argv, { env: { IREE_TUNED_LOG: log } });
        expect(told.explanation.operations[0]!.outcome).toBe('hit');
      }
      expect(readFileSync(log, 'utf8').match(/\.schema-8 is a copy from before\n/g)).toHaveLength(1);
      expect(existsSync(`${place.database}.schema-8`)).toBe(true);
    },
  );

  test('that is missing or empty is created', async () => {
    const place = workplace({ IREE_TUNED_BUDGET: '0' });
    await expectStockBuild(place);
    expect(existsSync(place.database)).toBe(true);
    const empty = workplace({ IREE_TUNED_BUDGET: '0' });
    mkdirSync(join(empty.folder, 'data'));
    writeFileSync(empty.database, '');
    await expectStockBuild(empty);
    expect(readFileSync(empty.database).length).toBeGreaterThan(0);
  });
});

/** A disk of 300 KiB, removed after the test. */
function mountSmallDisk(place: Workplace, skip: (why: string) => void): string {
  const folder = place.path('full');
  mkdirSync(folder);
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=300k', 'none', folder]).status === 0;
  if (!isMounted) skip('a small disk takes a system that lets us mount one');
  onTestFinished(() => {
    spawnSync('umount', [folder]);
  });
  return folder;
}

function fill(folder: string): void {
  while (spawnSync('sh', ['-c', `head -c 4096 /dev/zero >>'${folder}/rest'`]).status === 0);
}

describe('a full disk', () => {
  test('for a new database gives a stock build', async ({ skip }) => {
    const place = workplace();
    const full = mountSmallDisk(place, skip);
    fill(full);
    const explanation = await expectStockBuild(place, { IREE_TUNED_DB: join(full, 'tuning.db') });
    expect(explanation.operations[0]!.reason).toMatch(/cannot be written/);
  });

  test(
    'while tuning gives a stock build, and the committed rows stay',
    { timeout: 180_000 },
    async ({ skip }) => {
      const place = await recordedWorkplace();
      const full = mountSmallDisk(place, skip);
      copyFileSync(place.database, join(full, 'tuning.db'));
      fill(full);
      place.write('in.mlir', place.read('in.mlir').toString().replaceAll('71', '73'));
      const env = { IREE_TUNED_DB: join(full, 'tuning.db'), IREE_TUNED_CACHE: join(full, 'cache') };
      await expectStockBuild(place, env);
      rmSync(join(full, 'rest'));
      const database = new Database(join(full, 'tuning.db'));
      expect(database.pragma('integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      expect(database.prepare('SELECT count(*) FROM claim').pluck().get()).toBe(1);
      database.close();
    },
  );
});
