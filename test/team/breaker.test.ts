import fc from 'fast-check';
import { expect, test } from 'vitest';
import { afterFailure, breakerState, type Breaker } from '../../src/team/breaker.ts';
import { afterAnswer, MISSING_MS, worthAsking } from '../../src/team/missing.ts';

const LOST = { kind: 'unreachable', reason: 'gone' } as const;
const NOW = Date.parse('2026-11-22T12:00:00Z');

/** Seconds that a breaker is open after each of `failures` failures, for one random number. */
function pauses(count: number, random: number): number[] {
  let breaker: Breaker | null = null;
  return Array.from({ length: count }, () => {
    breaker = afterFailure(breaker, LOST, NOW, random);
    return Math.round((breaker.until - NOW) / 1000);
  });
}

test('the pause after a failure is a minute, doubles each time, and ends at an hour', () => {
  expect(pauses(9, 0.5)).toEqual([60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
});

test('jitter changes the pause by at most a fifth', () => {
  expect(pauses(3, 0)).toEqual([48, 96, 192]);
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (random) => {
      const [first] = pauses(1, random);
      expect(first).toBeGreaterThanOrEqual(48);
      expect(first).toBeLessThanOrEqual(72);
    }),
  );
});

test('the breaker is half-open after the pause, and closed after an answer', () => {
  const breaker = afterFailure(null, LOST, NOW, 0.5);
  expect(breakerState(breaker, NOW)).toBe('open');
  expect(breakerState(breaker, NOW + 59_999)).toBe('open');
  expect(breakerState(breaker, NOW + 60_000)).toBe('half-open');
  expect(breakerState(null, NOW)).toBe('closed');
});

test('a clock that was set back does not keep the breaker open', () => {
  expect(breakerState(afterFailure(null, LOST, NOW, 0.5), NOW - 1)).toBe('half-open');
});

test('the pause after a wrong password is an hour', () => {
  const breaker = afterFailure(null, { kind: 'denied', reason: 'no' }, NOW, 0.5);
  expect(breakerState(breaker, NOW + 3_599_000)).toBe('open');
  expect(breakerState(breaker, NOW + 3_600_000)).toBe('half-open');
});

const PLACE = { target: 't', device: 'd', compiler: 'c' };

test('a miss of the server expires after ten minutes, separately for each place', () => {
  const missing = afterAnswer({}, { ...PLACE, workloads: ['a', 'b'] }, NOW);
  const worth = (now: number, place = PLACE) =>
    worthAsking(missing, { ...place, workloads: ['a', 'b', 'c'] }, now);
  expect(worth(NOW)).toEqual(['c']);
  expect(worth(NOW + MISSING_MS - 1)).toEqual(['c']);
  expect(worth(NOW + MISSING_MS)).toEqual(['a', 'b', 'c']);
  expect(worth(NOW - 1)).toEqual(['a', 'b', 'c']);
  expect(worth(NOW, { ...PLACE, device: 'another' })).toEqual(['a', 'b', 'c']);
});

test('adding a miss drops expired misses', () => {
  const before = afterAnswer({}, { ...PLACE, workloads: ['a'] }, NOW);
  const after = afterAnswer(before, { ...PLACE, workloads: ['b'] }, NOW + MISSING_MS);
  expect(Object.keys(after)).toHaveLength(1);
});
