import { expect, test } from 'vitest';
import { decodeElements, encodeElements, zeroElements } from '../../src/measure/elements.ts';

/** All numbers of 16 bits, as bytes. */
const halves = Uint16Array.from({ length: 2 ** 16 }, (_, bits) => bits);
const bytes = new Uint8Array(halves.buffer);

test.each(['f16', 'bf16'])('every finite %s is encoded as it was decoded', (type) => {
  const values = Array.from(decodeElements(bytes, type)!, Number);
  const finite = [...values.keys()].filter((bits) => Number.isFinite(values[bits]));
  expect(finite.length).toBeGreaterThan(63_000);
  const encoded = encodeElements(
    Float64Array.from(finite, (bits) => values[bits]!),
    type,
  );
  // Zero has no sign.
  expect([...(encoded as Uint16Array)]).toEqual(finite.map((bits) => (bits === 0x8000 ? 0 : bits)));
});

test('floats are rounded to the nearest', () => {
  expect([...(encodeElements([1 + 2 ** -12, 1 + 2 ** -9.5, -1 - 2 ** -9.5], 'f16') as Uint16Array)]).toEqual([
    0x3c00, 0x3c01, 0xbc01,
  ]);
  // The next power of two is nearer than the largest fraction.
  expect([...(encodeElements([2 - 2 ** -12], 'f16') as Uint16Array)]).toEqual([0x4000]);
});

test.each([
  ['f8E4M3FN', 0x38],
  ['f8E4M3FNUZ', 0x40],
  ['f8E5M2', 0x3c],
  ['f8E5M2FNUZ', 0x40],
])('1 and -1 in %s', (type, one) => {
  expect([...(encodeElements([1, -1, 0], type) as Uint8Array)]).toEqual([one, 0x80 + one, 0]);
});

test('integers of any sign and width', () => {
  expect(encodeElements([1, -1], 'si64')).toEqual(BigInt64Array.of(1n, -1n));
  expect(encodeElements([7], 'ui8')).toEqual(Int8Array.of(7));
  expect(() => zeroElements(1, 'i4')).toThrow('elements of type i4 cannot be written');
});
