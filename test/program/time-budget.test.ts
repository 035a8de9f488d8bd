import { expect, test, vi } from 'vitest';
import { timeBudget } from '../../src/program/time-budget.ts';

test('tasks at the same time count once, and time between tasks is free', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
  try {
    const budget = timeBudget(10);
    const task = (ms: number) => budget.spend(() => new Promise((resolve) => setTimeout(resolve, ms)));
    const both = Promise.all([task(2000), task(3000)]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(budget.left).toBeCloseTo(9);
    await vi.advanceTimersByTimeAsync(2000);
    await both;
    await vi.advanceTimersByTimeAsync(5000);
    expect(budget.left).toBeCloseTo(7);
    const long = task(20_000);
    await vi.advanceTimersByTimeAsync(20_000);
    await long;
    expect(budget.left).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
