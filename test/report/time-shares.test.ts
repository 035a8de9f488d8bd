import { expect, test } from 'vitest';
import type { Decision } from '../../src/decision/decision.ts';
import { NO_RATES } from '../../src/report/loss.ts';
import { NO_TIMES, timeLines, timeSharesOf } from '../../src/report/time-shares.ts';

/** @param executables of an operation; null for a skipped operation */
const decision = (
  outcome: Decision['outcome'],
  executables: readonly string[] | null,
  isKnown: boolean,
): Decision =>
  ({
    outcome,
    reason: `why ${outcome}`,
    configuration: isKnown ? { kind: 'default', version: 1 } : null,
    tunable: executables && { executables, workload: { kind: 'dispatch', bytes: 100e6 } },
  }) as unknown as Decision;

/** Shares on a machine that reads 20 GB/s and has caches of 32 MB. */
function shares(
  decisions: readonly Decision[],
  seconds: ReadonlyMap<string, number>,
  bytesPerSecond: number | null = 20e9,
  cacheBytes: number | null = 32e6,
) {
  const dispatches = [...seconds].map(([dispatch, own]) => ({
    ...{ dispatch, seconds: own, calls: 1, amount: null },
  }));
  return timeSharesOf(decisions, { dispatches, rates: { ...NO_RATES, bytesPerSecond } }, cacheBytes);
}

test('each dispatch counts once, by the decision about its operation', () => {
  const decisions = [
    decision('hit', ['main_dispatch_1'], true),
    // Two operations of one dispatch.
    decision('hit', ['main_dispatch_1'], true),
    decision('default', ['main_dispatch_10'], false),
    decision('skipped', null, false),
  ];
  const seconds = new Map([
    ['main_dispatch_0_slow_memcpy', 0.01],
    ['main_dispatch_1_matmul_4x4x4_f32', 0.06],
    // Not a dispatch of `main_dispatch_1`.
    ['main_dispatch_10_matmul_8x8x8_f32', 0.03],
  ]);
  const found = shares(decisions, seconds)!;
  expect(found.decided).toBeCloseTo(0.6);
  expect(found.undecided).toBeCloseTo(0.3);
  expect(found.untuned).toBeCloseTo(0.1);
  expect(found.left.map(({ dispatch, reason }) => [dispatch, reason])).toEqual([
    ['main_dispatch_10_matmul_8x8x8_f32', 'why default'],
    ['main_dispatch_0_slow_memcpy', 'such dispatches are not tuned'],
  ]);
});

test('a default that is best is decided, and small shares are not listed', () => {
  const seconds = new Map([
    ['main_dispatch_0', 0.999],
    ['main_dispatch_1', 0.001],
  ]);
  const found = shares([decision('tuned', ['main_dispatch_0'], true)], seconds)!;
  expect(found).toMatchObject({ undecided: 0, left: [] });
  expect(found.decided).toBeCloseTo(0.999);
});

test('an untimed program has no shares', () => {
  expect(timeSharesOf([decision('hit', ['main_dispatch_0'], true)], NO_TIMES, null)).toBeNull();
});

test('a dispatch that reads memory at the machine’s bandwidth is at its bound', () => {
  const undecided = [decision('default', ['main_dispatch_0'], false)];
  const share = (seconds: number) => shares(undecided, new Map([['main_dispatch_0', seconds]]))!;
  // 100 MB at 20 GB/s take 5 ms.
  expect(share(0.006)).toMatchObject({ atBound: 1, undecided: 0, left: [] });
  expect(share(0.007)).toMatchObject({ atBound: 0, undecided: 1 });
  expect(timeLines(share(0.006))).toEqual([
    "Of the program's time, as it was timed last, decisions cover 0%, 100% is as fast as memory allows, 0% is undecided and 0% is not tuned.",
  ]);
});

test('data that fits into a cache, or an unknown bandwidth, gives no bound', () => {
  const decisions = [decision('default', ['main_dispatch_0'], false)];
  const seconds = new Map([['main_dispatch_0', 0.006]]);
  for (const [bytesPerSecond, cacheBytes] of [
    [20e9, 200e6],
    [20e9, null],
    [null, 32e6],
  ] as const)
    expect(shares(decisions, seconds, bytesPerSecond, cacheBytes)!.atBound).toBe(0);
});

test('a decided dispatch at its bound counts as decided', () => {
  const decisions = [decision('tuned', ['main_dispatch_0'], true)];
  expect(shares(decisions, new Map([['main_dispatch_0', 0.005]]))).toMatchObject({ decided: 1, atBound: 0 });
});
