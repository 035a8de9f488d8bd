// A build of this package replaces the previous build.
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { makeCurrent } from '../../scripts/builds-folder.mjs';
import { temporaryDirectory } from '../support/folders.ts';

let folder: string;
beforeEach(() => {
  folder = join(temporaryDirectory(), 'dist');
});

const make = (text: string) =>
  makeCurrent(
    folder,
    ['one.cjs', 'two.cjs'].map((name) => ({ name, contents: Buffer.from(text) })),
  );
const current = () => realpathSync(join(folder, 'current'));
const textsIn = (build: string) =>
  ['one.cjs', 'two.cjs'].map((name) => readFileSync(join(build, name), 'utf8'));
const others = () => readdirSync(folder).filter((name) => name !== 'current');
const age = (names: readonly string[], hours: number) => {
  const then = Date.now() / 1000 - hours * 3600;
  for (const name of names) utimesSync(join(folder, name), then, then);
};

test('the first build makes the folder', async () => {
  await make('a');
  expect(textsIn(current())).toEqual(['a', 'a']);
  expect(others()).toHaveLength(1);
});

test('readers meanwhile find the complete files of one build', async () => {
  await make('0');
  const seen = new Set<string>();
  let turn = 1;
  const builds = async () => {
    while (turn <= 30) await make(String(turn++));
  };
  const user = async () => {
    while (turn <= 30) {
      const [one, two] = textsIn(current());
      expect(two).toBe(one);
      seen.add(one!);
      await new Promise(setImmediate);
    }
  };
  await Promise.all([builds(), user()]);
  expect(textsIn(current())).toEqual(['30', '30']);
  expect(seen.size).toBeGreaterThan(2);
});

test('a replaced build stays while it is used, and is removed later', async () => {
  await make('a');
  const first = current();
  await make('b');
  const second = current();
  expect(textsIn(first)).toEqual(['a', 'a']);
  age(others(), 48);
  await make('c');
  // The build that was just replaced may be in use.
  expect(textsIn(second)).toEqual(['b', 'b']);
  expect(others()).toHaveLength(2);
  expect(() => textsIn(first)).toThrow('ENOENT');
});

test('leftovers of a killed build are removed after a day', async () => {
  await make('a');
  mkdirSync(join(folder, 'build-killed'));
  writeFileSync(join(folder, 'build-killed.link'), '');
  age(['build-killed', 'build-killed.link'], 23);
  await make('b');
  expect(others()).toEqual(expect.arrayContaining(['build-killed', 'build-killed.link']));
  age(['build-killed', 'build-killed.link'], 25);
  await make('c');
  expect(others()).toHaveLength(3);
});

describe('a build with equal files', () => {
  test('changes nothing', async () => {
    await make('a');
    const before = current();
    age(others(), 48);
    await make('a');
    expect(current()).toBe(before);
    expect(others()).toHaveLength(1);
  });

  test.each([
    [
      'is damaged',
      (build: string) => {
        writeFileSync(join(build, 'one.cjs'), '');
      },
    ],
    [
      'is missing',
      (build: string) => {
        rmSync(join(build, 'two.cjs'));
      },
    ],
  ])('is written again if a file %s', async (_, damage) => {
    await make('a');
    const before = current();
    damage(before);
    await make('a');
    expect(current()).not.toBe(before);
    expect(textsIn(current())).toEqual(['a', 'a']);
  });
});

test('replaces a folder in place of the link', async () => {
  await make('a');
  const copied = current();
  rmSync(join(folder, 'current'));
  cpSync(copied, join(folder, 'current'), { recursive: true });
  await make('b');
  expect(textsIn(current())).toEqual(['b', 'b']);
  expect(readdirSync(folder, { withFileTypes: true }).find(({ name }) => name === 'current')).toSatisfy(
    (entry: { isSymbolicLink(): boolean }) => entry.isSymbolicLink(),
  );
});
