import { expect, test, vi } from 'vitest';
import { purseOf } from '../../src/program/purse.ts';

test('what is done at the same time counts once, and what is done between is free', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
  try {
    const purse = purseOf(10);
    const deed = (ms: number) => purse.spend(() => new Promise((resolve) => setTimeout(resolve, ms)));
    const both = Promise.all([deed(2000), deed(3000)]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(purse.left).toBeCloseTo(9);
    await vi.advanceTimersByTimeAsync(2000);
    await both;
    await vi.advanceTimersByTimeAsync(5000);
    expect(purse.left).toBeCloseTo(7);
    const long = deed(20_000);
    await vi.advanceTimersByTimeAsync(20_000);
    await long;
    expect(purse.left).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
