import { chmodSync, chownSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isOwn, whyDistrusted } from '../../src/system/trust.ts';
import { temporaryDirectory } from '../support/folders.ts';

const isRoot = process.getuid?.() === 0;

test.each([
  [0o700, null],
  [0o755, null],
  [0o775, 'others can write to it (mode 775): chmod go-w FOLDER'],
  [0o777, 'others can write to it (mode 777): chmod go-w FOLDER'],
])('a folder of mode %o', (mode, expected) => {
  const folder = temporaryDirectory();
  chmodSync(folder, mode);
  expect(whyDistrusted(folder)?.replace(folder, 'FOLDER') ?? null).toBe(expected);
});

test('a missing folder is trusted', () => {
  expect(whyDistrusted(join(temporaryDirectory(), 'none'))).toBeNull();
});

test.skipIf(!isRoot)("another user's folder is not trusted", () => {
  const folder = temporaryDirectory();
  chownSync(folder, 12345, 12345);
  expect(isOwn(statSync(folder))).toBe(false);
  expect(whyDistrusted(folder)).toBe('it belongs to another user (uid 12345)');
});
