import { expect, test } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/backend/configuration.ts';
import { TILE } from '../store/samples.ts';
import { beginning, ending, programEnding } from '../../src/report/sentences.ts';
import { because, NO_REASON } from '../../src/system/reason.ts';

const gain = (ratio: number) => ({
  configuration: TILE,
  evidence: { ratio, complete: true },
});
const same = (complete: boolean) => ({
  configuration: DEFAULT_CONFIGURATION,
  evidence: { ratio: 1, complete },
});

test('what is begun says how long it takes at most', () => {
  expect(beginning(1, 59.2)).toBe('tuning 1 matmul that has no record yet, for 1 min 0 s at most');
  expect(beginning(3, 15)).toBe('tuning 3 matmuls that have no record yet, for 15 s at most');
});

test('what has ended says what was gained', () => {
  expect(ending([gain(5.74)], 0, '', 12.34)).toBe('1 matmul in 12.3 s: 1 faster (5.74x)');
  expect(ending([gain(2), gain(1.2), same(true), same(false)], 1, 'the tuning budget is spent', 60)).toBe(
    '5 matmuls in 1 min 0 s: 2 faster (1.20x, 2.00x), 1 best as it is, 1 with nothing faster so far, ' +
      '1 left to the default: the tuning budget is spent',
  );
  expect(ending([1.1, 1.2, 1.3, 1.4].map(gain), 0, '', 9)).toBe(
    '4 matmuls in 9 s: 4 faster (1.10x to 1.40x)',
  );
  expect(ending([], 2, 'the machine is too busy to measure', 9)).toBe(
    '2 matmuls in 9 s: 2 left to the default: the machine is too busy to measure',
  );
});

test('a program that was run says what it came to', () => {
  const nothing = { functions: [], skipped: [], leftOut: [], injected: true, ...NO_REASON };
  expect(programEnding(nothing)).toBeNull();
  const untimed = { name: 'main', equal: true, maxError: 0, reason: 'it runs for too long', timing: null };
  expect(programEnding({ ...nothing, functions: [untimed] })).toBe(
    'the program: @main was not timed: it runs for too long',
  );
  expect(programEnding({ ...nothing, ...because('no-time', 'it takes too long') })).toBe(
    'the program: not verified: it takes too long',
  );
  const worse = because('worse-in-program', 'it is worse with each');
  expect(programEnding({ ...nothing, injected: false, ...worse })).toBe(
    'the program: compiled as it is: it is worse with each',
  );
});
