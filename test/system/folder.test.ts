import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../src/system/folder.ts';
import { temporaryDirectory } from '../support/folders.ts';

test('a folder is made with those above it, once', () => {
  const root = temporaryDirectory();
  const path = join(root, 'a/b/c');
  makeFolder(path, 0o700);
  for (const one of ['a', 'a/b', 'a/b/c']) expect(statSync(join(root, one)).mode & 0o777).toBe(0o700);
  makeFolder(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  symlinkSync(path, join(root, 'link'));
  makeFolder(join(root, 'link'));
  makeFolder(join(root, 'link/d'));
  expect(existsSync(join(path, 'd'))).toBe(true);
});

test('a file, or a link that leads nowhere, is in the way', () => {
  const root = temporaryDirectory();
  writeFileSync(join(root, 'file'), '');
  symlinkSync(join(root, 'nowhere'), join(root, 'link'));
  for (const [name, code] of [
    ['file', 'EEXIST'],
    ['file/below', 'ENOTDIR'],
    ['link', 'EEXIST'],
    ['link/below', 'EEXIST'],
  ] as const)
    expect(() => {
      makeFolder(join(root, name));
    }).toThrow(expect.objectContaining({ code }) as Error);
});

// Node's own way never comes back from here.
test.runIf(existsSync('/proc/self'))('a file system that takes no new names says so', () => {
  for (const path of ['/proc/iree-tuned', '/proc/iree-tuned/below/it'])
    expect(() => {
      makeFolder(path);
    }).toThrow(/ENOENT/);
});

test('the folder that one is in needs no name', () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, 'here'));
  makeFolder(join(root, 'here/.'));
  makeFolder('.');
});
