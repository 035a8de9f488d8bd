import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { cacheName, fileIdentity, readCached, writeCached } from '../../src/compiler/cache.ts';
import { shortHash } from '../../src/compiler/hash.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { write } from './support.ts';

const isText = (value: unknown): value is string => typeof value === 'string';

describe('values', () => {
  it('are read back, and nothing else is left in the directory', () => {
    const directory = join(temporaryDirectory(), 'made', 'for it');
    expect(writeCached(directory, 'x.json', 'value')).toBe(true);
    expect(readCached(directory, 'x.json', isText)).toBe('value');
    expect(readdirSync(directory)).toEqual(['x.json']);
  });
  test.each(['', '{', '7', '"half', '\0'])('that are damaged (%j) are not there', (text) => {
    const directory = temporaryDirectory();
    write(join(directory, 'x.json'), text);
    expect(readCached(directory, 'x.json', isText)).toBeNull();
  });
  it('that cannot be written are not an error', () => {
    const file = write(join(temporaryDirectory(), 'file'), '');
    expect(writeCached(join(file, 'below'), 'x.json', 1)).toBe(false);
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'x.json'));
    expect(writeCached(directory, 'x.json', 1)).toBe(false);
    expect(readdirSync(directory)).toEqual(['x.json']);
    expect(readCached(directory, 'x.json', isText)).toBeNull();
  });
});

describe('the identity of a file', () => {
  const directory = temporaryDirectory();
  const path = write(join(directory, 'bin/iree-compile'), 'one');
  const before = fileIdentity(path);

  it('is the same by another name', () => {
    symlinkSync(path, join(directory, 'link'));
    expect(fileIdentity(join(directory, 'link'))).toBe(before);
  });
  it('changes with the time of the file', () => {
    utimesSync(path, 1, 1);
    expect(fileIdentity(path)).not.toBe(before);
  });
  it('changes with the library that the executable loads', () => {
    for (const place of ['bin', 'lib']) {
      const now = fileIdentity(path);
      write(
        join(
          directory,
          place,
          process.platform === 'darwin' ? 'libIREECompiler.dylib' : 'libIREECompiler.so',
        ),
        'x',
      );
      expect(fileIdentity(path)).not.toBe(now);
    }
  });
  it('is null for what is not there', () => {
    expect(fileIdentity(join(directory, 'nowhere'))).toBeNull();
  });
});

test('names are short, readable and different', () => {
  expect(cacheName('compiler', 'a')).toMatch(/^compiler-[0-9a-f]{16}\.json$/);
  expect(new Set(Array.from({ length: 5000 }, (_, i) => shortHash(`/usr/bin/${i}`))).size).toBe(5000);
});

test.skipIf(process.getuid?.() === 0)('a directory that may not be written is not an error', () => {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o500);
  expect(writeCached(directory, 'x.json', 1)).toBe(false);
  chmodSync(directory, 0o700);
  writeFileSync(join(directory, 'x'), '');
  expect(existsSync(join(directory, 'x.json'))).toBe(false);
});
