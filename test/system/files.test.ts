import { renameSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { fileIdentity, settledIdentity } from '../../src/system/files.ts';
import { temporaryDirectory } from '../support/folders.ts';

test('a file has a settled identity two seconds after each change', async () => {
  const folder = temporaryDirectory();
  const path = join(folder, 'model.mlir');
  writeFileSync(path, 'one');
  expect(settledIdentity(path)).toBeNull();
  await sleep(2100);
  const first = settledIdentity(path);
  expect(first).not.toBeNull();
  // A change with the same size and modification time.
  const then = new Date(2026, 0, 1);
  utimesSync(path, then, then);
  expect(settledIdentity(path)).toBeNull();
  await sleep(2100);
  const second = settledIdentity(path);
  expect(second).not.toBe(first);
  // A replacement of the file.
  const other = join(folder, 'other');
  writeFileSync(other, 'two');
  utimesSync(other, then, then);
  renameSync(other, path);
  await sleep(2100);
  expect(settledIdentity(path)).not.toBe(second);
});

test('the identity of a file is the same through a link, and changes with its modification time', () => {
  const folder = temporaryDirectory();
  const [path, link] = [join(folder, 'iree-compile'), join(folder, 'link')];
  writeFileSync(path, 'one');
  symlinkSync(path, link);
  const before = fileIdentity(path);
  expect(before).not.toBeNull();
  expect(fileIdentity(link)).toBe(before);
  utimesSync(path, 1, 1);
  expect(fileIdentity(path)).not.toBe(before);
});

test('a missing file has no identity', () => {
  const path = join(temporaryDirectory(), 'missing');
  expect([fileIdentity(path), settledIdentity(path)]).toEqual([null, null]);
});
