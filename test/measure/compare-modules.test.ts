// Pairs of processes, as long as there is time for them.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inPairs, type Extent } from '../../src/measure/compare-modules.ts';

/** Pairs of processes that take so many milliseconds each. */
const pairs = async (milliseconds: number, extent: Extent) =>
  inPairs('stock', 'tuned', extent, async (module) => {
    await sleep(milliseconds);
    return module;
  });

test('each module comes first as often as the other one, and is the first of its pair', async () => {
  const order: string[] = [];
  const measured = await inPairs('stock', 'tuned', { pairs: 4, seconds: 60 }, (module) => {
    order.push(module);
    return Promise.resolve(module);
  });
  expect(measured).toEqual(Array(4).fill(['stock', 'tuned']));
  expect(order).toEqual(['stock', 'tuned', 'tuned', 'stock', 'stock', 'tuned', 'tuned', 'stock']);
});

test('it ends before a pair for which there is no time', async () => {
  expect(await pairs(40, { pairs: 9, seconds: 0.12 })).toHaveLength(1);
});

test('what takes longer than anybody thought gets the pairs that tell something all the same', async () => {
  expect(await pairs(40, { pairs: 9, seconds: 0.12, leastSeconds: 60 })).toHaveLength(5);
  expect(await pairs(40, { pairs: 2, seconds: 0.12, leastSeconds: 60 })).toHaveLength(2);
  expect(await pairs(40, { pairs: 9, seconds: 0.12, leastSeconds: 0.12 })).toHaveLength(1);
});

test('it ends as soon as what it has says enough', async () => {
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
