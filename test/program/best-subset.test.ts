import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bestSubset } from '../../src/program/judge.ts';

/** Each harmful item halves the score. */
const harmedBy = (harmful: readonly number[]) => {
  const asked: (readonly number[])[] = [];
  const scoreOf = (subset: readonly number[]) => {
    asked.push(subset);
    return Promise.resolve(subset.filter((item) => harmful.includes(item)).reduce((score) => score / 2, 1));
  };
  return { asked, scoreOf };
};
const items = (count: number) => Array.from({ length: count }, (_, i) => i);

test('without a harmful item, one score is enough to keep all items', async () => {
  const { asked, scoreOf } = harmedBy([]);
  expect(await bestSubset(items(8), 0.98, scoreOf)).toEqual({ subset: items(8), score: 1 });
  expect(asked).toHaveLength(1);
});

test('exactly the harmful items are left out', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.nat(11), { maxLength: 12 }), async (harmful) => {
      const { subset } = await bestSubset(items(12), 0.98, harmedBy(harmful).scoreOf);
      expect(subset).toEqual(items(12).filter((item) => !harmful.includes(item)));
    }),
  );
});

test('the better half is kept if the halves are good alone and bad together', async () => {
  const scoreOf = (subset: readonly number[]) =>
    Promise.resolve(subset.includes(0) && subset.includes(3) ? 0.5 : subset.includes(3) ? 2 : 1.5);
  expect(await bestSubset(items(4), 0.98, scoreOf)).toEqual({ subset: [2, 3], score: 2 });
});

test('one harmful item among many costs few scores', async () => {
  const { asked, scoreOf } = harmedBy([5]);
  await bestSubset(items(64), 0.98, scoreOf);
  expect(asked.length).toBeLessThan(24);
});
