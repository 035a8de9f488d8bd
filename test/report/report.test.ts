import { expect, test } from 'vitest';
import { formatDuration, formatSeconds } from '../../src/system/format.ts';
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
  [60, '1 min'],
  [303.4, '5 min 3 s'],
  [3599.7, '1 h'],
  [7500, '2 h 5 min'],
])('%d seconds of waiting read %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
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
