// How nested tiles divide a dimension.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asOne, divisionOf } from '../../../src/backend/llvm-cpu/division.ts';

test('each outer tile ends with a partial inner tile', () => {
  // Three times 100 = 12 * 8 + 4.
  expect(divisionOf(300, [100, 8])).toEqual({ tiles: 39, whole: 288 / 300, useful: 300 / 312 });
  // 128 and 72, each in blocks of 50: 50 + 50 + 28 and 50 + 22, in tiles of 16.
  expect(divisionOf(200, [128, 50, 16])).toEqual({ tiles: 16, whole: 176 / 200, useful: 200 / 256 });
  expect(divisionOf(7, [7, 7])).toEqual({ tiles: 1, whole: 1, useful: 1 });
});

test('it counts the tiles that loops visit', () => {
  const sizes = fc.integer({ min: 1, max: 300 });
  fc.assert(
    fc.property(sizes, sizes, sizes, sizes, (size, ...tiles) => {
      const limited = tiles.map((tile) => Math.min(tile, size));
      const visited: number[] = [];
      const visit = (length: number, [tile, ...inner]: number[]): void => {
        if (tile === undefined) return void visited.push(length);
        for (let at = 0; at < length; at += tile) visit(Math.min(tile, length - at), inner);
      };
      visit(size, limited);
      const inWhole = visited.filter((one) => one === limited.at(-1)).length * limited.at(-1)!;
      expect(divisionOf(size, limited)).toMatchObject({ tiles: visited.length, whole: inWhole / size });
    }),
  );
});

test('shares of several dimensions multiply', () => {
  const one = { tiles: 2, whole: 0.5, useful: 0.8 };
  expect(asOne([one, one])).toEqual({ tiles: 4, whole: 0.25, useful: 0.8 * 0.8 });
  expect(asOne([])).toEqual({ tiles: 1, whole: 1, useful: 1 });
});
