import { expect, test } from 'vitest';
import { memoryRate } from '../../src/measure/memory-rate.ts';

test('memory is read at some rate, by one thread and by several', async () => {
  for (const threads of [1, 2]) {
    const rate = await memoryRate(threads);
    expect(rate).toBeGreaterThan(0);
    expect(rate).toBeLessThan(Infinity);
  }
});
