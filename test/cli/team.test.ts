// The commands of a team and of a fleet. No command prints the password of a URL.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root, temporaryDirectory } from '../support/folders.ts';
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
  readonly #env: Readonly<Record<string, string>>;

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
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
      ...this.#env,
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

test('no output has the password of a server', async () => {
  const urls = [
    `postgres://ada:${encodeURIComponent(SECRET)}@127.0.0.1:1/tuning`,
    `postgres://ada:${encodeURIComponent(SECRET)}@127.0.0.1:1/tuning?sslmode=maybe`,
    `postgres://ada:${SECRET}@127.0.0.1:1/tuning`,
  ];
  const commands = [['config'], ['config', '--json'], ['team', 'queue'], ['team', 'queue', '--install']];
  for (const url of urls) {
    const user = new User({ IREE_TUNED_FLEET: url });
    for (const { output } of await user.runAll(...commands)) {
      // Each output is about the server or about the setting.
      expect(output).toMatch(/127\.0\.0\.1|\*\*\*/);
      expect(output).not.toContain('s3cret');
    }
    expect(user.files()).not.toContain('s3cret');
  }
});

test('the server of an earlier version as a team is named with the way to move, and stops nothing', async () => {
  const user = new User({ IREE_TUNED_TEAM: `postgres://ada:${encodeURIComponent(SECRET)}@host/tuning` });
  for (const { output } of await user.runAll(['config'], ['team', 'status'])) {
    expect(output).toContain('iree-tuned team export postgres://ada:***@host/tuning FILE');
    expect(output).not.toContain('s3cret');
  }
});

test('a command without a team prints the way to set one', async () => {
  const ended = await new User({}).runAll(
    ['team', 'sync'],
    ['team', 'status'],
    ['team', 'queue'],
    ['db', 'revoke', '--reason', 'x'],
    ['db', 'revoke', '--reason', 'x', '--tool', '1', '--origin', 'ada'],
  );
  const expected = [
    ...['no team is set: set IREE_TUNED_TEAM', 'no team is set: set IREE_TUNED_TEAM'],
    'no fleet is set: set IREE_TUNED_FLEET',
    ...Array.from({ length: 2 }, () => 'exactly one of --record, --tool, --origin is needed'),
  ];
  for (const [i, one] of ended.entries())
    expect(one).toMatchObject({ code: 2, output: expect.stringContaining(expected[i]!) as string });
});

test('a key is made once, and its public part is printed', async () => {
  const user = new User({});
  const file = join(user.folder, 'team.key');
  const [first] = await user.runAll(['team', 'key', file]);
  const [second] = await user.runAll(['team', 'key', file]);
  expect(first).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^MCowBQYDK2VwAyEA\S{44}\n$/) as string,
  });
  expect(second).toEqual(first);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const other = join(user.folder, 'other');
  writeFileSync(other, 'no key');
  const [third] = await user.runAll(['team', 'key', other]);
  expect(third).toMatchObject({
    code: 1,
    output: expect.stringContaining('is no private Ed25519 key') as string,
  });
});
