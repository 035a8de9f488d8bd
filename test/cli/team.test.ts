// @module-tag slow
// The commands of a team. No command prints the password of a URL.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import { teamState } from '../../src/team/state.ts';
import { keysOf } from '../../src/store/subject.ts';
import { DECISION, MARK, SUBJECT } from '../store/samples.ts';
import { root, temporaryDirectory } from '../support/folders.ts';
import { isWithout } from '../support/needs.ts';
import { testDatabase, whyNoPostgres } from '../support/postgres.ts';
import { subjectOf, teamDatabase } from '../team/support.ts';
import { runCommand } from './commands.ts';

const SECRET = 's3cret of %2F all';

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** A user with an own folder. */
class User {
  readonly folder = temporaryDirectory();
  readonly database = join(this.folder, 'tuning.db');
  readonly team: string | undefined;

  constructor(team: string | undefined) {
    this.team = team;
  }

  /** Runs commands of `iree-tuned` in order. */
  async runAll(...commands: readonly string[][]): Promise<Ended[]> {
    const env = {
      PATH: '/nowhere',
      HOME: this.folder,
      IREE_TUNED_DB: this.database,
      IREE_TUNED_CACHE: join(this.folder, 'cache'),
      IREE_TUNED_LOG: join(this.folder, 'log'),
      IREE_TUNED_COMPILER: '/nowhere/iree-compile',
      ...(this.team !== undefined && { IREE_TUNED_TEAM: this.team }),
    };
    const all = commands.map((words) => runCommand(words, { cwd: root, env }));
    return (await Promise.all(all)).map(({ code, out, err }) => ({ code, output: out + err }));
  }

  /** The content of all files. */
  files(): string {
    return readdirSync(this.folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(this.folder, name))
      .filter((path) => statSync(path).isFile())
      .map((path) => readFileSync(path, 'latin1'))
      .join('\n');
  }
}

/** The JSON of a successful command. */
function answerOf(ended: Ended | undefined): unknown {
  expect(ended).toMatchObject({ code: 0 });
  return JSON.parse(ended!.output);
}

describe.skipIf(isWithout(whyNoPostgres))('a team', () => {
  test('has commands for set-up, sync and revocations', async () => {
    const database = await testDatabase();
    const owner = new User(database.url);
    const [first, roles, again] = await owner.runAll(
      ['team', 'migrate', '--json'],
      ['team', 'roles', '--apply'],
      ['team', 'migrate'],
    );
    expect(answerOf(first)).toMatchObject({ from: 0 });
    expect(roles!.output).toMatch(/iree_tuned_reader.*GRANT/s);
    expect(again!.output).toMatch(/has schema \d+ already/);

    const ada = new User(await database.login('ada', { in: 'iree_tuned_writer' }));
    const store = openSqliteStore(ada.database);
    store.putRecord(SUBJECT, DECISION);
    const [record] = store.allRecords();
    store.close();
    const [pushed, status] = await ada.runAll(['team', 'sync', '--json'], ['team', 'status', '--json']);
    expect(answerOf(pushed)).toMatchObject({ pushed: { changed: { claims: 1 } }, whyNot: null });
    expect(answerOf(status)).toMatchObject({
      login: expect.stringMatching(/^ada_/) as string,
      counts: { claims: 1 },
      breaker: { state: 'closed' },
    });

    const bob = new User(await database.login('bob', { in: 'iree_tuned_reader' }));
    const others = openSqliteStore(bob.database);
    others.noteMiss(subjectOf(7));
    others.close();
    const [synced, there, nothing] = await bob.runAll(
      ['team', 'sync', '--json'],
      ['db', 'ls', '--json'],
      ['team', 'sync'],
    );
    expect(answerOf(synced)).toMatchObject({ pulled: [{ target: SUBJECT.target, ignored: 0 }] });
    expect(answerOf(there)).toMatchObject([{ digest: record!.digest }]);
    expect(nothing!.output).toMatch(/Pushed 0 lines/);

    const [revoked, gone] = await ada.runAll(
      ['db', 'revoke', '--record', record!.digest, '--reason', 'made up', '--json'],
      ['db', 'ls', '--json'],
    );
    expect(answerOf(revoked)).toMatchObject({ team: { revoked: 1 } });
    expect(answerOf(gone)).toEqual([]);
    const [, goneThere, refused] = await bob.runAll(
      ['team', 'sync', '--json'],
      ['db', 'ls', '--json'],
      ['db', 'revoke', '--tool', record!.tool, '--reason', 'spite'],
    );
    expect(answerOf(goneThere)).toEqual([]);
    // A login without the right has revoked nothing in its own database.
    expect(refused).toMatchObject({
      code: 1,
      output: expect.stringContaining('permission denied') as string,
    });
    expect(bob.files()).not.toContain('spite');
  });

  test('lets an administrator lift marks and block logins', async () => {
    const database = await teamDatabase();
    const ada = new User(await database.login('ada', { in: 'iree_tuned_writer' }));
    const grace = new User(await database.login('grace', { in: 'iree_tuned_administrator' }));
    const store = openSqliteStore(ada.database);
    store.putRecord(SUBJECT, DECISION);
    store.addMarks(SUBJECT, [MARK]);
    store.close();
    const isUsable = ({ database: path }: User) => {
      const own = openSqliteStore(path);
      const [record] = own.allRecords();
      own.close();
      return record?.failure === null;
    };
    const seen = openSqliteStore(grace.database);
    seen.noteMiss(SUBJECT);
    seen.close();
    const lifting = ['db', 'restore', '--marks', 'm=512', '--reason', 'mended'];
    const [, refused] = await ada.runAll(['team', 'sync'], lifting);
    expect(refused).toMatchObject({ code: 1 });
    expect(refused!.output).toContain('only an administrator lifts marks');
    expect(isUsable(ada)).toBe(false);

    const [, nothing, other, lifted, again] = await grace.runAll(
      ['team', 'sync'],
      ['db', 'restore', '--marks', 'm=513', '--reason', 'mended'],
      [...lifting, '--configuration', 'data-tile'],
      [...lifting, '--json'],
      lifting,
    );
    for (const ended of [nothing, other, again])
      expect(ended).toMatchObject({
        code: 1,
        output: expect.stringContaining('no configuration has a mark with workload') as string,
      });
    expect(answerOf(lifted)).toEqual([{ ...keysOf(SUBJECT), configuration: MARK.configuration, marks: 1 }]);
    expect(isUsable(grace)).toBe(true);
    await ada.runAll(['team', 'sync']);
    expect(isUsable(ada)).toBe(true);

    const login = `ada_${database.name}`;
    const claims = async () =>
      (await database.query('SELECT count(*)::int AS n FROM iree_tuned.claim'))[0]!['n'];
    expect(await claims()).toBe(1);
    const [denied] = await ada.runAll(['team', 'block', login]);
    expect(denied).toMatchObject({ code: 1, output: expect.stringContaining('permission denied') as string });
    const [early, distrusted] = await grace.runAll(
      ['team', 'unblock', login],
      ['team', 'block', login, '--json'],
    );
    expect(early).toMatchObject({ code: 1, output: expect.stringContaining('is not blocked by') as string });
    expect(answerOf(distrusted)).toMatchObject({
      removed: 1,
      origins: [/^a builder@/, /^a tester@/].map((name) => expect.stringMatching(name) as string),
    });
    const [synced] = await ada.runAll(['team', 'sync', '--json']);
    expect(answerOf(synced)).toMatchObject({
      pushed: null,
      whyNot: expect.stringContaining('distrusts') as string,
    });
    expect(await claims()).toBe(0);
    const origin = 'nobody@nowhere';
    const restoring = ['db', 'restore', '--origin', origin];
    await grace.runAll(['db', 'revoke', '--origin', origin, '--reason', 'a mistake']);
    // Without the right to restore on the server, a user restores in the own database.
    const [, here] = await ada.runAll(['team', 'sync'], restoring);
    expect(here).toMatchObject({ code: 0, output: expect.stringContaining('is withdrawn here.') as string });
    const [restored, twice] = await grace.runAll(restoring, restoring);
    expect(restored).toMatchObject({
      code: 0,
      output: expect.stringContaining('here and for the team') as string,
    });
    expect(twice).toMatchObject({ code: 1, output: expect.stringContaining('is not revoked') as string });
    const [trusted] = await grace.runAll(['team', 'unblock', login]);
    expect(trusted).toMatchObject({ code: 0, output: expect.stringContaining('is unblocked') as string });
    const [back] = await ada.runAll(['team', 'sync', '--json']);
    expect(answerOf(back)).toMatchObject({ pushed: { changed: { claims: 1 } } });
    expect(await claims()).toBe(1);
  });

  test('is asked again by builds after a sync', async () => {
    const database = await teamDatabase();
    const user = new User(await database.login('ada', { in: 'iree_tuned_writer' }));
    const state = teamState(join(user.folder, 'cache'), user.team!);
    state.setBreaker({ failures: 1, since: Date.now(), until: Date.now() + 1e6, reason: 'it was gone' });
    state.setMissing({ something: Date.now() });
    const [status, doctor, synced] = await user.runAll(['team', 'status'], ['doctor'], ['team', 'sync']);
    expect(status!.output).toMatch(/not until .*: it was gone/);
    expect(doctor!.output).toMatch(/BAD {2}team .*failed a while ago\n.*iree-tuned team sync/);
    expect(synced).toMatchObject({ code: 0 });
    expect({ breaker: state.breaker(), missing: state.missing() }).toEqual({ breaker: null, missing: {} });
  });

  test('has no password in any output', async () => {
    const database = await teamDatabase();
    const right = new URL(await database.login('ada', { in: 'iree_tuned_writer' }));
    right.password = '';
    const withSecret = (url: URL) => {
      const copy = new URL(url);
      copy.password = encodeURIComponent(SECRET);
      return copy.href;
    };
    const [own, ...others] = [
      withSecret(right),
      `postgres://ada:${encodeURIComponent(SECRET)}@127.0.0.1:1/tuning`,
      `postgres://ada:${encodeURIComponent(SECRET)}@127.0.0.1:1/tuning?sslmode=maybe`,
      `postgres://ada:${SECRET}@127.0.0.1:1/tuning`,
    ];
    const commands = [
      ['config'],
      ['config', '--json'],
      ['doctor', '--json'],
      ['team', 'sync'],
      ['team', 'migrate'],
      ['team', 'roles', '--apply'],
      ['team', 'status'],
      ['db', 'revoke', '--tool', '1', '--reason', 'x'],
    ];
    const user = new User(own);
    const ended = await user.runAll(
      ...commands,
      ...others.flatMap((url) => commands.map((words) => ['--team', url, ...words])),
    );
    expect(ended).toHaveLength(4 * commands.length);
    for (const { output } of ended) {
      // Each output is about the server or about the setting.
      expect(output).toMatch(/127\.0\.0\.1|\*\*\*/);
      expect(output).not.toContain('s3cret');
    }
    expect(user.files()).not.toContain('s3cret');
  });
});

test('a command without a team prints the way to set one', async () => {
  const user = new User(undefined);
  const ended = await user.runAll(
    ...[
      ['team', 'sync'],
      ['team', 'status'],
      ['team', 'migrate'],
      ['team', 'roles'],
    ],
    ['db', 'revoke', '--reason', 'x'],
    ['db', 'revoke', '--reason', 'x', '--tool', '1', '--origin', 'ada'],
  );
  for (const one of ended.slice(0, 3))
    expect(one).toMatchObject({
      code: 2,
      output: expect.stringContaining('no team is set: add --team postgres://') as string,
    });
  expect(ended[3]).toMatchObject({
    code: 0,
    output: expect.stringContaining('CREATE ROLE iree_tuned_reader') as string,
  });
  for (const one of ended.slice(4))
    expect(one).toMatchObject({
      code: 2,
      output: expect.stringContaining('exactly one of --record, --tool, --origin is needed') as string,
    });
});
