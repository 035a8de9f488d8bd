import { expect, test } from 'vitest';
import type { Decision } from '../../src/decision/decision.ts';
import { timeSharesOf } from '../../src/report/time-shares.ts';

/** @param executables of an operation; none for one that was skipped before anybody looked */
const decision = (
  outcome: Decision['outcome'],
  executables: readonly string[] | null,
  isKnown: boolean,
): Decision =>
  ({
    outcome,
    reason: `why ${outcome}`,
    configuration: isKnown ? { kind: 'default', version: 1 } : null,
    tunable: executables && { executables },
  }) as unknown as Decision;

test('each dispatch counts once, by what was decided about the operation that it is', () => {
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
    // Not one of `main_dispatch_1`.
    ['main_dispatch_10_matmul_8x8x8_f32', 0.03],
  ]);
  const shares = timeSharesOf(decisions, seconds)!;
  expect(shares.decided).toBeCloseTo(0.6);
  expect(shares.undecided).toBeCloseTo(0.3);
  expect(shares.untuned).toBeCloseTo(0.1);
  expect(shares.left.map(({ dispatch, reason }) => [dispatch, reason])).toEqual([
    ['main_dispatch_10_matmul_8x8x8_f32', 'why default'],
    ['main_dispatch_0_slow_memcpy', 'such dispatches are not tuned'],
  ]);
});

test('a default that was found to be best is decided, and trifles are not named', () => {
  const seconds = new Map([
    ['main_dispatch_0', 0.999],
    ['main_dispatch_1', 0.001],
  ]);
  const shares = timeSharesOf([decision('tuned', ['main_dispatch_0'], true)], seconds)!;
  expect(shares).toMatchObject({ undecided: 0, left: [] });
  expect(shares.decided).toBeCloseTo(0.999);
});

test('nobody knows of a program that was not timed', () => {
  expect(timeSharesOf([decision('hit', ['main_dispatch_0'], true)], new Map())).toBeNull();
});
