import { expect, test } from 'vitest';
import { cacheRate, memoryRate } from '../../src/running/memory-rate.ts';

test('the rate of reading memory is positive, for one thread and for several', { tags: 'full' }, async () => {
  for (const threads of [1, 2]) {
    const rate = await memoryRate(threads);
    expect(rate).toBeGreaterThan(0);
    expect(rate).toBeLessThan(Infinity);
  }
});

test('the rate of reading caches is positive', async () => {
  const rate = await cacheRate(2, 2 ** 20);
  expect(rate).toBeGreaterThan(0);
  expect(rate).toBeLessThan(Infinity);
});
