// The commands of a team and of a fleet. No command prints the password of a URL.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newPlace } from './commands.ts';

const SECRET = 's3cret of %2F all';

/** A place without a compiler, and a function that runs commands there and returns all output of each. */
function newUser(env: Readonly<Record<string, string>> = {}) {
  const { at, folder, run } = newPlace({ PATH: '/nowhere', IREE_TUNED_COMPILER: '/nowhere/cc', ...env });
  const runAll = (...commands: readonly string[][]) =>
    Promise.all(
      commands.map((words) => run(...words).then(({ code, out, err }) => ({ code, output: out + err }))),
    );
  return { at, folder, runAll };
}

/** The content of all files. */
const contentOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');

test('no output has the password of a server', async () => {
  const urls = [
    `postgres://ada:${encodeURIComponent(SECRET)}@127.0.0.1:1/tuning`,
    `postgres://ada:${encodeURIComponent(SECRET)}@127.0.0.1:1/tuning?sslmode=maybe`,
    `postgres://ada:${SECRET}@127.0.0.1:1/tuning`,
  ];
  const commands = [['config'], ['config', '--json'], ['team', 'queue'], ['team', 'queue', '--install']];
  for (const url of urls) {
    const { folder, runAll } = newUser({ IREE_TUNED_FLEET: url, IREE_TUNED_LOG: 'log' });
    for (const { output } of await runAll(...commands)) {
      // Each output is about the server or about the setting.
      expect(output).toMatch(/127\.0\.0\.1|\*\*\*/);
      expect(output).not.toContain('s3cret');
    }
    expect(contentOf(folder)).not.toContain('s3cret');
  }
});

test('the server of an earlier version as a team is named with the way to move, and stops nothing', async () => {
  const { runAll } = newUser({ IREE_TUNED_TEAM: `postgres://ada:${encodeURIComponent(SECRET)}@host/tuning` });
  for (const { output } of await runAll(['config'], ['team', 'status'])) {
    expect(output).toContain('iree-tuned team export postgres://ada:***@host/tuning FILE');
    expect(output).not.toContain('s3cret');
  }
});

test('a command without a team prints the way to set one', async () => {
  const ended = await newUser().runAll(
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
  const { at, runAll } = newUser();
  const [file, other] = [at('team.key'), at('other')];
  writeFileSync(other, 'no key');
  const [first, second, third] = await runAll(
    ['team', 'key', file],
    ['team', 'key', file],
    ['team', 'key', other],
  );
  expect(first).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^MCowBQYDK2VwAyEA\S{44}\n$/) as string,
  });
  expect(second).toEqual(first);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(third).toMatchObject({
    code: 1,
    output: expect.stringContaining('is no private Ed25519 key') as string,
  });
});
