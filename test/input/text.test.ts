// Reads inputs: a large file in pieces, and only once.
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { readInput } from '../../src/input/text.ts';
import type * as Bytes from '../../src/system/bytes.ts';
import { piecesOfFile, readStdin } from '../../src/system/bytes.ts';
import { createDigest } from '../../src/system/digest.ts';
import { isParsable } from '../../src/system/heap.ts';
import { memoryBytes } from '../../src/system/processor.ts';
import { fileState } from '../../src/system/files.ts';
import { originalCompile } from '../../src/compiler/command.ts';
import { root, temporaryDirectory } from '../support/folders.ts';
import { commandOf } from '../support/inspected.ts';

vi.mock(import('../../src/system/bytes.ts'), { spy: true });
vi.mock(import('../../src/system/heap.ts'), { spy: true });
vi.mock(import('../../src/system/processor.ts'), { spy: true });

const DIGITS = 'a1'.repeat(4096);
const TEXT = `%w = arith.constant dense<"0x${DIGITS}"> : tensor<1024xf32>\n`;

/** A large file, and a function that reads it with the clock set forward by some seconds. */
function large(text = TEXT) {
  const folder = temporaryDirectory();
  const path = join(folder, 'in.mlir');
  writeFileSync(path, text);
  const cache = join(folder, 'cache');
  const read = async (secondsLater: number) => {
    vi.mocked(piecesOfFile).mockClear();
    const now = vi
      .spyOn(Date, 'now')
      .mockReturnValue(Math.floor(statSync(path).ctimeMs) + 1000 * secondsLater);
    try {
      const input = await readInput(path, cache, 1000);
      return { input, isRead: vi.mocked(piecesOfFile).mock.calls.length > 0 };
    } finally {
      now.mockRestore();
    }
  };
  return { path, cache, read };
}

test('a large input has the digest of all bytes, and a text without weights', async () => {
  const { path, cache, read } = large();
  const whole = await readInput(path, cache);
  expect(whole).toMatchObject({ bytes: readFileSync(path), isWhole: true, cuts: [] });
  const { input } = await read(0);
  expect(input!.bytes.length).toBeLessThan(1200);
  expect(input).toMatchObject({ isWhole: false, digest: whole!.digest });
  expect(whole!.digest).toBe((await createDigest())([readFileSync(path)]));
  expect(input!.file!.identity).toBe(fileState(path)!.identity);
});

test('only an input beyond an eighth of the memory is huge, whether its weights were cut or not', async () => {
  const { path, cache, read } = large();
  const { size } = statSync(path);
  vi.mocked(memoryBytes).mockReturnValue(8 * size);
  expect([await readInput(path, cache), (await read(3)).input]).toMatchObject([
    { isWhole: true, isHuge: false },
    { isWhole: false, isHuge: false },
  ]);
  vi.mocked(memoryBytes).mockReturnValue(8 * size - 1);
  // The second one is known from the cache, and the memory may have changed.
  expect([await readInput(path, cache), (await read(4)).input]).toMatchObject([
    { isWhole: true, isHuge: true },
    { isWhole: false, isHuge: true },
  ]);
  vi.mocked(memoryBytes).mockReset();
});

test('a binary input counts twice, and so do the files beside the input', async () => {
  const { path, cache } = large();
  const { size } = statSync(path);
  const bytecode = join(temporaryDirectory(), 'in.mlirbc');
  writeFileSync(bytecode, Buffer.concat([Buffer.from('ML\xefR', 'latin1'), Buffer.alloc(size - 4)]));
  const isHuge = async (memory: number, file: string | null, beside = 0) => {
    vi.mocked(memoryBytes).mockReturnValue(memory);
    return (await readInput(file, cache, undefined, beside))!.isHuge;
  };
  expect([await isHuge(16 * size, bytecode), await isHuge(16 * size - 1, bytecode)]).toEqual([false, true]);
  expect([await isHuge(24 * size, path, size), await isHuge(24 * size - 1, path, size)]).toEqual([
    false,
    true,
  ]);
  vi.mocked(readStdin).mockReturnValue(Buffer.from(TEXT));
  expect([await isHuge(8 * size, null), await isHuge(8 * size - 1, null)]).toEqual([false, true]);
  vi.mocked(memoryBytes).mockReset();
  vi.mocked(readStdin).mockReset();
});

test('a large input from stdin has a text without weights, and all bytes for the compiler', async () => {
  const { path, cache, read } = large();
  const { bytes, digest, cuts } = (await read(0)).input!;
  const given = Buffer.from(TEXT);
  vi.mocked(readStdin).mockReturnValue(given);
  const input = await readInput(null, cache, 1000);
  expect(input).toEqual({ bytes, digest, cuts, isWhole: false, isHuge: false, file: null, stdin: given });
  const { stdin } = originalCompile(commandOf('-'), input!);
  expect(stdin).toBe(given);
  expect(originalCompile(commandOf(path), input!).stdin).toBeUndefined();
  // A text without weights has one copy.
  const text = Buffer.from('x'.repeat(2000));
  vi.mocked(readStdin).mockReturnValue(text);
  const whole = (await readInput(null, cache, 1000))!;
  expect([whole.isWhole, whole.bytes === text, whole.stdin]).toEqual([true, true, undefined]);
  vi.mocked(readStdin).mockReset();
});

test('an input that the heap has no room for loses its weights, and is refused without weights', async () => {
  const { path, cache, read } = large();
  vi.mocked(isParsable).mockImplementation((bytes) => bytes < 2000);
  const { bytes, digest } = (await read(0)).input!;
  expect(await readInput(path, cache)).toMatchObject({ bytes, digest, isWhole: false });
  writeFileSync(path, 'x'.repeat(2000));
  expect(await readInput(path, cache)).toBeNull();
  vi.mocked(isParsable).mockReset();
});

test('an unchanged large input is read once, but a fresh one is not trusted', async () => {
  const { path, cache, read } = large();
  expect((await read(1)).isRead).toBe(true);
  // The file could change again within the resolution of its times.
  const first = await read(3);
  expect(first.isRead).toBe(true);
  const again = await read(4);
  expect(again.isRead).toBe(false);
  expect(again.input).toMatchObject({ digest: first.input!.digest, cuts: first.input!.cuts, isWhole: false });
  expect(Buffer.from(again.input!.bytes)).toEqual(Buffer.from(first.input!.bytes));

  const { atime, mtime } = statSync(path);
  const other = Buffer.from(TEXT);
  other[5000] = 0x62;
  writeFileSync(path, other);
  // The change time reveals the edit.
  utimesSync(path, atime, mtime);
  const changed = await read(4);
  expect(changed.isRead).toBe(true);
  expect(changed.input!.digest).not.toBe(first.input!.digest);
  expect((await read(5)).isRead).toBe(false);

  for (const name of readdirSync(join(cache, 'inputs')))
    writeFileSync(join(cache, 'inputs', name), '{"cuts": [1]');
  expect((await read(6)).isRead).toBe(true);
});

test.each([
  [
    'grows',
    (path: string) => {
      appendFileSync(path, 'x');
    },
  ],
  [
    'is truncated',
    (path: string) => {
      truncateSync(path, 2000);
    },
  ],
])('a large input that %s while it is read is an error, and nothing is remembered', async (_, change) => {
  const { path, read } = large(TEXT.repeat(300));
  const { piecesOfFile: real } = await vi.importActual<typeof Bytes>('../../src/system/bytes.ts');
  vi.mocked(piecesOfFile).mockImplementationOnce(function* (from) {
    for (const piece of real(from)) {
      yield piece;
      change(path);
    }
  });
  await expect(read(3)).rejects.toThrow(/changes while it is read/);
  expect((await read(4)).isRead).toBe(true);
});

test('an input that is larger than the memory needs little memory', () => {
  const path = join(temporaryDirectory(), 'in.mlir');
  writeFileSync(path, 'module @weights attributes {w = dense<"0x');
  const digits = Buffer.alloc(2 ** 25, 'a');
  for (let i = 0; i < 8; i++) appendFileSync(path, digits);
  appendFileSync(path, '"> : tensor<9xf32>} {}');
  const script = `
    import { readInput } from ${JSON.stringify(join(root, 'src/input/text.ts'))};
    const peak = () => process.resourceUsage().maxRSS / 1024;
    const before = peak();
    const { bytes } = await readInput(${JSON.stringify(path)}, ${JSON.stringify(`${path}.cache`)});
    console.log(JSON.stringify({ left: bytes.length, mebibytes: peak() - before }));`;
  const { stdout } = spawnSync(process.execPath, [
    '--conditions=source',
    '--input-type=module-typescript',
    '-e',
    script,
  ]);
  const { left, mebibytes } = JSON.parse(stdout.toString()) as { left: number; mebibytes: number };
  expect(left).toBeLessThan(2000);
  expect(mebibytes).toBeLessThan(100);
});
