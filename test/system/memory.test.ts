import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { DESCRIPTIONS, PLANS } from '../../src/system/cache.ts';
import { shortHash } from '../../src/system/hash.ts';
import { memoryOf } from '../../src/system/memory.ts';
import { temporaryDirectory } from '../support/folders.ts';
import { write } from '../support/scripts.ts';

interface Fact {
  readonly identity: string;
  readonly fact: string;
}

const isFact = (value: unknown): value is Fact =>
  typeof value === 'object' && value !== null && 'fact' in value && typeof value.fact === 'string';

/** Root ignores permissions. */
function asNobody(work: () => void): void {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid!('nobody');
  try {
    work();
  } finally {
    if (isRoot) process.seteuid!(0);
  }
}

describe.each([
  ['in the cache folder itself', DESCRIPTIONS, /^compiler-[0-9a-f]{16}\.json$/],
  ['in a folder of its own', PLANS, /^plan-[0-9a-f]{16}\.json$/],
])('a remembered value %s', (_, place, name) => {
  const memory = memoryOf(place, isFact);

  it('is recalled, and leaves no other file', () => {
    const cache = join(temporaryDirectory(), 'made', 'for it');
    expect(memory.recall(cache, 'a')).toBeNull();
    memory.remember(cache, { identity: 'a', fact: 'value' });
    expect(memory.recall(cache, 'a')).toEqual({ identity: 'a', fact: 'value' });
    expect(memory.recall(cache, 'b')).toBeNull();
    const names = readdirSync(dirname(memory.pathOf(cache, 'a')));
    expect(names).toEqual([expect.stringMatching(name)]);
  });
  test.each(['', '{', '7', '"half', '\0', '{"identity":"a"}'])('that is damaged (%j) is null', (text) => {
    const cache = temporaryDirectory();
    write(memory.pathOf(cache, 'a'), text);
    expect(memory.recall(cache, 'a')).toBeNull();
  });
  it('of another identity with the same file name is null', () => {
    const cache = temporaryDirectory();
    write(memory.pathOf(cache, 'a'), '{"identity":"b","fact":"another"}');
    expect(memory.recall(cache, 'a')).toBeNull();
  });
  it('that cannot be stored is null', () => {
    const file = write(join(temporaryDirectory(), 'file'), '');
    for (const cache of [file, join(file, 'below')]) memory.remember(cache, { identity: 'a', fact: 'value' });
    expect(readFileSync(file, 'utf8')).toBe('');
    const cache = temporaryDirectory();
    mkdirSync(memory.pathOf(cache, 'a'), { recursive: true });
    memory.remember(cache, { identity: 'a', fact: 'value' });
    expect(readdirSync(dirname(memory.pathOf(cache, 'a')))).toHaveLength(1);
    expect(memory.recall(cache, 'a')).toBeNull();
  });
  it('in a read-only folder is null', () => {
    const cache = temporaryDirectory();
    chmodSync(cache, 0o500);
    asNobody(() => {
      memory.remember(cache, { identity: 'a', fact: 'value' });
    });
    chmodSync(cache, 0o700);
    expect(existsSync(memory.pathOf(cache, 'a'))).toBe(false);
  });
});

test('hashes of different texts differ', () => {
  expect(new Set(Array.from({ length: 5000 }, (_, i) => shortHash(`/usr/bin/${i}`))).size).toBe(5000);
});
