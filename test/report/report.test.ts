import { expect, test } from 'vitest';
import { formatDuration, formatSeconds } from '../../src/system/format.ts';
import { progressLine } from '../../src/report/sentences.ts';
import { table } from '../../src/report/table.ts';

test.each([
  [2.5, '2.50 s'],
  [0.0123, '12.3 ms'],
  [0.0000456, '45.6 us'],
  [NaN, '-'],
])('%d seconds read %s', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});

test.each([
  [0, '0 s'],
  [0.04, '0 s'],
  [12.34, '12.3 s'],
  [60, '1 min 0 s'],
  [303.4, '5 min 3 s'],
  [3599.7, '1 h 0 min'],
  [7500, '2 h 5 min'],
])('%d seconds of waiting read %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
});

test('progress names the workload, the trials, the best and the time left', () => {
  const line = progressLine({
    workload: 'contraction m=8 n=8 k=8 f32,f32->f32 mk,kn->mn',
    stage: 'search',
    trials: 32,
    defaultSeconds: 0.002,
    bestSeconds: 0.001,
    secondsLeft: 41.2,
    workloads: 3,
    decided: 1,
  });
  expect(line).toBe('1/3 done, 8x8x8: 32 trials, 2.00 ms -> 1.00 ms (2.00x), 42 s left');
});

test('tables align text to the left and numbers to the right', () => {
  expect(
    table(
      ['name', 'gain'],
      [
        ['a', '1.50x'],
        ['long', '12.00x'],
      ],
    ),
  ).toBe('name    gain\na      1.50x\nlong  12.00x');
});
