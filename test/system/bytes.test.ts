import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { copyOver, piecesOf, piecesOfFile, writeSlices } from '../../src/system/bytes.ts';
import { createDigest } from '../../src/system/digest.ts';
import { root, temporaryDirectory } from '../support/folders.ts';

const BYTES = Uint8Array.from({ length: 9000 }, (_, i) => i % 251);

test('the pieces of a file are the whole file, for any piece size', () => {
  const path = join(temporaryDirectory(), 'file');
  writeFileSync(path, BYTES);
  for (const piece of [1, 7, 8999, 9000, 9001]) {
    const pieces = [...piecesOfFile(path, piece)].map(({ length }) => length);
    expect(pieces.reduce((sum, length) => sum + length, 0)).toBe(BYTES.length);
    const bytes = Buffer.concat([...copiesOf(piecesOfFile(path, piece))]);
    expect(bytes.equals(BYTES)).toBe(true);
  }
  expect(() => [...piecesOfFile(`${path}.none`)]).toThrow(/ENOENT/);
});

function* copiesOf(pieces: Iterable<Uint8Array>) {
  for (const piece of pieces) yield piece.slice();
}

test.each([
  ['longer', 9001],
  ['shorter', 3],
  ['another', 9000],
])('a file that becomes %s during the read is an error', (_, size) => {
  const path = join(temporaryDirectory(), 'file');
  writeFileSync(path, BYTES);
  const pieces = piecesOfFile(path, 4000);
  pieces.next();
  writeFileSync(path, new Uint8Array(size));
  expect(() => [...pieces]).toThrow(`${path} changes while it is read`);
});

describe('a copy', () => {
  const folder = temporaryDirectory();
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  test.each([0, 1, 4095, 4096, 4097, 9000])('of %i bytes replaces any content', (size) => {
    writeFileSync(from, BYTES.subarray(0, size));
    for (const before of [0, 4096, 20000]) {
      writeFileSync(to, new Uint8Array(before).fill(1));
      chmodSync(to, 0o640);
      expect(copyOver(from, to)).toBe(true);
      expect(readFileSync(to).equals(BYTES.subarray(0, size))).toBe(true);
      expect(statSync(to).mode & 0o777).toBe(0o640);
    }
  });
  test('that is not right starts with zeros', () => {
    writeFileSync(from, BYTES);
    writeFileSync(to, new Uint8Array(9000).fill(1));
    let length = 0;
    const add = (piece: Uint8Array) => void (length += piece.length);
    expect(copyOver(from, to, { add, isRight: () => length !== 9000 })).toBe(false);
    expect(readFileSync(to).subarray(0, 4096)).toEqual(Buffer.alloc(4096));
  });
  test('of a missing file is an error', () => {
    expect(() => copyOver(join(folder, 'none'), to)).toThrow(/ENOENT/);
  });
});

test('slices are written in order', () => {
  const path = join(temporaryDirectory(), 'file');
  writeSlices(path, [Buffer.from('ab'), new Uint8Array(), Buffer.from('c')]);
  expect(readFileSync(path, 'utf8')).toBe('abc');
});

test('a digest depends on the bytes, not on the slices', async () => {
  const digest = await createDigest();
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), fc.integer({ min: 1, max: 9 }), (bytes, piece) => {
      expect(digest(piecesOf(bytes, piece))).toBe(digest([bytes]));
      expect(digest([bytes, Buffer.from('x')])).not.toBe(digest([bytes]));
    }),
  );
  expect(digest([])).toMatch(/^[0-9a-f]{32}$/);
});

/** A process reads the stdout of a shell script as its stdin, and prints numbers. */
function readingStdin(script: string) {
  const source = join(root, 'src/system/bytes.ts');
  const text = `
    const { readStdin, takenStdin } = await import(${JSON.stringify(source)});
    const bytes = readStdin();
    const sum = bytes.length > 1e6 ? null : bytes.reduce((sum, byte) => (sum * 31 + byte) % 65521, 0);
    const taken = takenStdin()?.length ?? null;
    const arrays = () => process.memoryUsage().arrayBuffers;
    // With a compile cache, the first collection may leave an array.
    for (let turn = 0; turn < 100 && bytes.length > 1e6 && arrays() > 1.1 * bytes.length; turn++) {
      gc();
      await new Promise(setImmediate);
    }
    const kept = arrays();
    console.log(JSON.stringify({ length: bytes.length, taken, sum, kept }));`;
  const node = [process.execPath, '--expose-gc', '--conditions=source', '--input-type=module', '-e', text];
  const { stdout } = spawnSync('/bin/sh', ['-c', `{ ${script}; } | "$0" "$@"`, ...node], {
    encoding: 'utf8',
  });
  return JSON.parse(stdout) as { length: number; taken: number | null; sum: number; kept: number };
}

describe('stdin', () => {
  test.each([0, 1, 65_535, 65_536, 65_537, 300_000])('of %i bytes is read whole', (size) => {
    const path = join(temporaryDirectory(), 'stdin');
    const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 7919) % 251);
    writeFileSync(path, bytes);
    const sum = bytes.reduce((total, byte) => (total * 31 + byte) % 65521, 0);
    // A slow writer writes small parts.
    const script = `head -c 1000 '${path}'; tail -c +1001 '${path}'`;
    expect(readingStdin(script)).toMatchObject({ length: size, taken: size === 0 ? null : size, sum });
  });

  test('is kept once', () => {
    const size = 2 ** 26;
    const { taken, kept } = readingStdin(`head -c ${size} /dev/zero`);
    expect(taken).toBe(size);
    expect(kept).toBeLessThan(1.1 * size);
  });
});
