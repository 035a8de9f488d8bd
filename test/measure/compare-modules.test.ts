// Pairs of processes within a time limit.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inPairs, type Extent } from '../../src/measure/compare-modules.ts';

/** Measures pairs whose processes take this many milliseconds each. */
const pairs = async (milliseconds: number, extent: Extent) =>
  inPairs('stock', 'tuned', extent, async (module) => {
    await sleep(milliseconds);
    return module;
  });

test('the order alternates, and each pair keeps stock first', async () => {
  const order: string[] = [];
  const measured = await inPairs('stock', 'tuned', { pairs: 4, seconds: 60 }, (module) => {
    order.push(module);
    return Promise.resolve(module);
  });
  expect(measured).toEqual(Array(4).fill(['stock', 'tuned']));
  expect(order).toEqual(['stock', 'tuned', 'tuned', 'stock', 'stock', 'tuned', 'tuned', 'stock']);
});

test('measuring ends before a pair that would exceed the time', async () => {
  expect(await pairs(40, { pairs: 9, seconds: 0.12 })).toHaveLength(1);
});

test('slow modules get up to five pairs within leastSeconds', async () => {
  expect(await pairs(40, { pairs: 9, seconds: 0.12, leastSeconds: 60 })).toHaveLength(5);
  expect(await pairs(40, { pairs: 2, seconds: 0.12, leastSeconds: 60 })).toHaveLength(2);
  expect(await pairs(40, { pairs: 9, seconds: 0.12, leastSeconds: 0.12 })).toHaveLength(1);
});

test('measuring ends as soon as the pairs are clear', async () => {
  const measure = (module: string) => Promise.resolve(module);
  const measured = await inPairs(
    'stock',
    'tuned',
    { pairs: 9, seconds: 60 },
    measure,
    (own) => own.length > 0,
  );
  expect(measured).toHaveLength(1);
});
