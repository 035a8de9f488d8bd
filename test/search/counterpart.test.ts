import { expect, test } from 'vitest';
import { counterpart } from '../../src/search/counterpart.ts';
import type { SearchSpace } from '../../src/search/space.ts';

const spaceOf = (knobs: Readonly<Record<string, readonly number[]>>, isLegal = true): SearchSpace => ({
  knobs: Object.entries(knobs).map(([name, values]) => ({ name, values })),
  starts: [],
  alternatives: [],
  configurationAt: (point) => (isLegal ? point : null),
  valuesOf: () => null,
});

const own = spaceOf({ rows: [1, 2, 4, 8, 12], whole: [16, 64, 196] });

test('a point maps to equal values, else to the nearest ones', () => {
  const other = spaceOf({ rows: [1, 3, 8], whole: [16, 64, 196, 784] });
  expect(counterpart([3, 2], own, other)).toEqual([2, 2]);
  expect(counterpart([1, 0], own, other)).toEqual([1, 0]);
  expect(counterpart([2, 1], own, other)).toEqual([1, 1]);
});

test('a whole dimension maps to a whole dimension', () => {
  const other = spaceOf({ rows: [1, 2, 4, 8, 12], whole: [16, 64, 128, 784] });
  expect(counterpart([0, 2], own, other)).toEqual([0, 3]);
});

test('an absent tile is near to no other', () => {
  const from = spaceOf({ cache: [0, 32, 64] });
  expect(counterpart([0], from, spaceOf({ cache: [0, 1] }))).toEqual([0]);
  expect(counterpart([1], from, spaceOf({ cache: [0, 96] }))).toEqual([1]);
});

test('other knobs, or an illegal point, give no counterpart', () => {
  expect(counterpart([0, 0], own, spaceOf({ rows: [1] }))).toBeNull();
  expect(counterpart([0, 0], own, spaceOf({ rows: [1], lanes: [16] }))).toBeNull();
  expect(counterpart([0, 0], own, spaceOf({ rows: [1], whole: [16] }, false))).toBeNull();
  expect(counterpart([0, 0], own, own)).toEqual([0, 0]);
});
