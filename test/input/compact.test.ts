// Compacts a large input.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { locate, parse } from 'mlir-parser-ts';
import { expect, test } from 'vitest';
import { compactor, placesIn } from '../../src/input/compact.ts';
import { matmulText } from '../support/inspected.ts';

const ANY = Infinity;
const digitsOf = (count: number) => '0123456789abcdefABCDEF'.repeat(count).slice(0, count);

/** The compacted text, from pieces of this size. */
function compact(content: string | Uint8Array, piece = 4096, mostBytes = ANY) {
  const bytes = Buffer.from(content);
  const own = compactor(mostBytes);
  // The memory of each piece is overwritten.
  const shared = Buffer.alloc(piece);
  for (let at = 0; at < bytes.length; at += piece) {
    const length = bytes.copy(shared, 0, at);
    own.add(shared.subarray(0, length));
  }
  return own.compacted();
}
const textOf = (content: string, piece?: number) => compact(content, piece)!.bytes.toString();

test('a long literal is shortened, in an attribute and in a resource', () => {
  const text = (digits: string) =>
    `%w = arith.constant dense<"0x${digits}"> : tensor<9xf32>\n${matmulText(8, 16, 32)}{-# a: { w: "0x${digits}" } #-}`;
  const { bytes, cuts, isWhole } = compact(text(digitsOf(5000)))!;
  expect(Buffer.from(bytes).toString()).toBe(text(digitsOf(1024)));
  expect(cuts.map(({ digits }) => digits)).toEqual([3976, 3976]);
  expect(isWhole).toBe(false);
  for (const short of ['', digitsOf(16), digitsOf(1024)])
    expect(compact(text(short))).toMatchObject({ bytes: Buffer.from(text(short)), cuts: [], isWhole: true });
});

test('each cut has a digest of its digits, which does not depend on the pieces', () => {
  const digestsOf = (digits: string, piece: number) => {
    const own = compactor(ANY, () => createHash('sha256'));
    const bytes = Buffer.from(`"0x${digits}" "0x${digits}0" "0xa"`);
    for (let at = 0; at < bytes.length; at += piece) own.add(bytes.subarray(at, at + piece));
    return own.compacted()!.cuts.map(({ digest }) => digest);
  };
  const [first, second, ...others] = digestsOf(digitsOf(5000), 4096);
  expect([first, second, ...others]).toEqual([expect.stringMatching(/^[\da-f]{64}$/), expect.any(String)]);
  expect(second).not.toBe(first);
  expect(digestsOf(digitsOf(5000), 7)).toEqual([first, second]);
  expect(digestsOf(digitsOf(5000).replace(/.$/, '9'), 4096)[0]).not.toBe(first);
});

test.each(['0x', "'0x", '"1x', '" 0x', '""0', '"0"x'])('digits after %s are not a literal', (before) => {
  const text = `${before}${digitsOf(5000)}"`;
  expect(textOf(text)).toBe(text);
});

test('a literal that follows a quote, that others follow, or that has no end', () => {
  const [long, short] = [digitsOf(3000), digitsOf(1024)];
  expect(textOf(`""0x${long}"0x${long}`)).toBe(`""0x${short}"0x${short}`);
});

test('the result does not depend on the pieces', () => {
  const part = fc.oneof(
    fc.constantFrom('"', '"0', '"0x', '\n', 'x', 'linalg.matmul', '\\"'),
    fc.integer({ min: 0, max: 3000 }).map(digitsOf),
  );
  fc.assert(
    fc.property(fc.array(part, { minLength: 1 }), fc.integer({ min: 1, max: 3000 }), (parts, piece) => {
      expect(compact(parts.join(''), piece)).toEqual(compact(parts.join(''), 2 ** 20));
    }),
  );
});

test('each place in the compacted text maps to a place in the input', () => {
  const constant = (digits: number) => `%w = arith.constant dense<"0x${digitsOf(digits)}"> : tensor<9xf32> `;
  const text = `${constant(2000)}\n  ${constant(9000)}${constant(4)}${constant(1500)}${matmulText(8, 16, 32)}${matmulText(9, 16, 32)}`;
  const left = compact(text)!;
  const whole = parse(Buffer.from(text)).operations;
  const found = parse(left.bytes).operations;
  expect(found).toHaveLength(2);
  for (const [i, { start }] of found.entries())
    expect(placesIn(left)(start)).toEqual(locate(Buffer.from(text), whole[i]!.start));
});

test('bytecode keeps its head and its names, for any pieces', () => {
  const names = ['hal.device.target', 'hal.executable.object'];
  const filler = Buffer.alloc(3000, 0xe9);
  const bytecode = Buffer.concat([
    Buffer.from('ML\xefR', 'latin1'),
    ...names.flatMap((name) => [filler, Buffer.from(name)]),
  ]);
  for (const piece of [64, 1001, 3010, 9000]) {
    const { bytes, cuts, isWhole } = compact(bytecode, piece)!;
    expect(bytes.subarray(0, 4)).toEqual(bytecode.subarray(0, 4));
    for (const name of names) expect(Buffer.from(bytes).includes(name)).toBe(true);
    expect([bytes.length < 1000, cuts, isWhole]).toEqual([true, [], false]);
  }
});

test('text beyond the limit gives no result', () => {
  expect(compact('x'.repeat(9000), 1000, 8999)).toBeNull();
  expect(compact(`"0x${digitsOf(9000)}`, 1000, 1100)).not.toBeNull();
});
