import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../src/system/folder.ts';
import { temporaryDirectory } from '../support/folders.ts';

test('a folder is created with its parents, once', () => {
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

test('a file or a dangling link at the path is an error', () => {
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

// Node's recursive mkdir never returns here.
test.runIf(existsSync('/proc/self'))('a file system without new names is an error', () => {
  for (const path of ['/proc/iree-tuned', '/proc/iree-tuned/below/it'])
    expect(() => {
      makeFolder(path);
    }).toThrow(/ENOENT/);
});

test('a path may end in a point', () => {
  const root = temporaryDirectory();
  mkdirSync(join(root, 'here'));
  makeFolder(join(root, 'here/.'));
  makeFolder('.');
});
