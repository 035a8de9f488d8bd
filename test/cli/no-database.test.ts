// @module-tag slow
// A missing database, most often a mistyped name: readers report it, and create none.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exitCodeOf, messageForUser } from '../../src/cli/failure.ts';
import { program } from '../../src/cli/iree-tuned.ts';
import { temporaryDirectory } from '../support/folders.ts';

let folder: string;
let missing: string;

beforeEach(() => {
  folder = temporaryDirectory();
  missing = join(folder, 'tunning/tuning.db');
  for (const [name, value] of Object.entries({
    ...{ HOME: folder, XDG_CONFIG_HOME: join(folder, 'config'), IREE_TUNED_CACHE: join(folder, 'cache') },
    ...{ IREE_TUNED_DB: undefined, IREE_TUNED_READONLY: undefined, IREE_TUNED_TEAM: undefined },
  }))
    vi.stubEnv(name, value);
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const type = (...words: string[]) => program.parseAsync(['--db', missing, ...words]);

test.each([
  [['db', 'ls']],
  [['db', 'ls', 'm=512', '--json']],
  [['db', 'show', 'm=512']],
  [['device', 'ls']],
  [['report', '-o', 'out.html']],
  [['db', 'export', 'out.jsonl']],
  [['db', 'export', '-']],
  [['db', 'prune', '--trials-older-than', '90']],
  [['db', 'verify']],
  [['stats', '--zero']],
])('%j reports the missing database, and ends with 1', async (words) => {
  const error = await type(...words.map((word) => word.replace('out.', join(folder, 'out.')))).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(messageForUser(error)).toMatch(`there is no tuning database ${missing}: `);
  expect(exitCodeOf(error)).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});

test('stats counts builds without a database', async () => {
  const said = vi.spyOn(console, 'log').mockReturnValue();
  await type('stats');
  expect(said.mock.calls.flat().join(' ').replaceAll(/\s+/g, ' ')).toBe(
    `Nothing has been compiled yet, and there is no tuning database ${missing}.`,
  );
  expect(existsSync(join(folder, 'tunning'))).toBe(false);
});
