// Shards: parts of the work for several machines.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unitsOfShard } from '../../src/populate/plan.ts';

const shards = (units: readonly string[], count: number): string[][] =>
  Array.from({ length: count }, (_, i) => unitsOfShard(units, (unit) => unit, { number: i + 1, count }));

const unitsAndCount = [
  fc.uniqueArray(fc.string(), { maxLength: 40 }),
  fc.integer({ min: 1, max: 12 }),
] as const;

test('the shards have each unit once, in even parts, in any order of the units', () => {
  fc.assert(
    fc.property(...unitsAndCount, (units, count) => {
      const each = shards(units, count);
      expect(each.flat().toSorted()).toEqual(units.toSorted());
      const sizes = each.map(({ length }) => length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      const reversed = shards(units.toReversed(), count);
      expect(reversed.map((shard) => shard.toReversed())).toEqual(each);
    }),
  );
});

test('a checkout in another folder has the same shards', () => {
  const names = Array.from({ length: 23 }, (_, i) => `models/${i % 5}/m-${i}.mlir`);
  const at = (folder: string) =>
    shards(
      names.map((name) => folder + name),
      10,
    ).map((shard) => shard.map((path) => path.slice(folder.length)));
  expect(at('/home/ci-1/work/')).toEqual(at('/var/z/'));
});

test('a new unit moves at most one other unit across each boundary', () => {
  fc.assert(
    fc.property(...unitsAndCount, fc.string(), (units, count, added) => {
      const [before, after] = [shards(units, count), shards([...new Set([...units, added])], count)];
      const moved = after.flatMap((shard, i) => shard.filter((unit) => !before[i]!.includes(unit)));
      expect(moved.filter((unit) => unit !== added).length).toBeLessThan(count);
    }),
  );
});

test('units with one key share a shard', () => {
  const units = ['b', 'a1', 'c', 'a2'];
  const first = unitsOfShard(units, (unit) => unit.slice(0, 1), { number: 1, count: 3 });
  expect(first).toEqual(['a1', 'a2']);
});
