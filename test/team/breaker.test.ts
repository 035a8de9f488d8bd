import fc from 'fast-check';
import { expect, test } from 'vitest';
import { afterFailure, breakerState, type Breaker } from '../../src/team/breaker.ts';
import { afterAnswer, MISSING_MS, worthAsking } from '../../src/team/missing.ts';

const LOST = { kind: 'unreachable', reason: 'gone' } as const;
const NOW = Date.parse('2026-11-22T12:00:00Z');

/** The seconds that a breaker is open after each of so many failures, when chance says `random`. */
function pauses(count: number, random: number): number[] {
  let breaker: Breaker | null = null;
  return Array.from({ length: count }, () => {
    breaker = afterFailure(breaker, LOST, NOW, random);
    return Math.round((breaker.until - NOW) / 1000);
  });
}

test('a server that failed is left alone for a minute, then twice as long each time, up to an hour', () => {
  expect(pauses(9, 0.5)).toEqual([60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]);
});

test('chance shifts that by a fifth at most', () => {
  expect(pauses(3, 0)).toEqual([48, 96, 192]);
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (random) => {
      const [first] = pauses(1, random);
      expect(first).toBeGreaterThanOrEqual(48);
      expect(first).toBeLessThanOrEqual(72);
    }),
  );
});

test('one may try when the time is over, and after an answer everybody', () => {
  const breaker = afterFailure(null, LOST, NOW, 0.5);
  expect(breakerState(breaker, NOW)).toBe('open');
  expect(breakerState(breaker, NOW + 59_999)).toBe('open');
  expect(breakerState(breaker, NOW + 60_000)).toBe('half-open');
  expect(breakerState(null, NOW)).toBe('closed');
});

test('a clock that is set back does not keep it open', () => {
  expect(breakerState(afterFailure(null, LOST, NOW, 0.5), NOW - 1)).toBe('half-open');
});

test('a wrong password is tried again after an hour: somebody may have mended it', () => {
  const breaker = afterFailure(null, { kind: 'denied', reason: 'no' }, NOW, 0.5);
  expect(breakerState(breaker, NOW + 3_599_000)).toBe('open');
  expect(breakerState(breaker, NOW + 3_600_000)).toBe('half-open');
});

const PLACE = { target: 't', device: 'd', compiler: 'c' };

test('what the server did not know is asked again after ten minutes, for each place on its own', () => {
  const missing = afterAnswer({}, { ...PLACE, workloads: ['a', 'b'] }, NOW);
  const worth = (now: number, place = PLACE) =>
    worthAsking(missing, { ...place, workloads: ['a', 'b', 'c'] }, now);
  expect(worth(NOW)).toEqual(['c']);
  expect(worth(NOW + MISSING_MS - 1)).toEqual(['c']);
  expect(worth(NOW + MISSING_MS)).toEqual(['a', 'b', 'c']);
  expect(worth(NOW - 1)).toEqual(['a', 'b', 'c']);
  expect(worth(NOW, { ...PLACE, device: 'another' })).toEqual(['a', 'b', 'c']);
});

test('what is over is forgotten when something is added', () => {
  const before = afterAnswer({}, { ...PLACE, workloads: ['a'] }, NOW);
  const after = afterAnswer(before, { ...PLACE, workloads: ['b'] }, NOW + MISSING_MS);
  expect(Object.keys(after)).toHaveLength(1);
});
