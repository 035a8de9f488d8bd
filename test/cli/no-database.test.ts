// @module-tag slow
// A missing database, most often a mistyped name: readers report it, and create none.
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { newPlace } from './commands.ts';

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
])('%j reports the missing database, and ends with 1', async (words) => {
  const { folder, at, run } = newPlace();
  const { code, err } = await run(...words);
  expect(err).toContain(`there is no tuning database ${at('tuning.db')}: `);
  expect(code).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
});
