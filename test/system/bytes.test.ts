import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { piecesOf, readBytes, writeSlices } from '../../src/system/bytes.ts';
import { createDigest } from '../../src/system/digest.ts';
import { temporaryDirectory } from '../support/folders.ts';

test('a file is read whole, in however many pieces', () => {
  const path = join(temporaryDirectory(), 'file');
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i % 251);
  writeFileSync(path, bytes);
  for (const piece of [1, 7, 999, 1000, 1001])
    expect(Buffer.from(readBytes(path, piece))).toEqual(Buffer.from(bytes));
  expect(() => readBytes(`${path}.none`)).toThrow(/ENOENT/);
});

test('slices are written one after the other', () => {
  const path = join(temporaryDirectory(), 'file');
  writeSlices(path, [Buffer.from('ab'), new Uint8Array(), Buffer.from('c')]);
  expect(readFileSync(path, 'utf8')).toBe('abc');
});

test('a digest depends on the bytes and not on how they are cut', async () => {
  const digest = await createDigest();
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), fc.integer({ min: 1, max: 9 }), (bytes, piece) => {
      expect(digest(piecesOf(bytes, piece))).toBe(digest([bytes]));
      expect(digest([bytes, Buffer.from('x')])).not.toBe(digest([bytes]));
    }),
  );
  expect(digest([])).toMatch(/^[0-9a-f]{32}$/);
});
