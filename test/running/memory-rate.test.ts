import { expect, test } from 'vitest';
import { memoryRate } from '../../src/running/memory-rate.ts';

test('the rate of reading memory is positive, for one thread and for several', async () => {
  for (const threads of [1, 2]) {
    const rate = await memoryRate(threads);
    expect(rate).toBeGreaterThan(0);
    expect(rate).toBeLessThan(Infinity);
  }
});
