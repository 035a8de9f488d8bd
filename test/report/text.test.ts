import { describe, expect, test } from 'vitest';
import { formatDuration, formatSeconds } from '../../src/system/format.ts';
import { table } from '../../src/report/table.ts';
import { printable } from '../../src/report/text.ts';
import { didYouMean } from '../../src/report/unknown-settings.ts';

test.each([
  ['an escape sequence', '\u001b[2Jx', '<U+001B>[2Jx'],
  ['one of eight bits', '\u009b31m', '<U+009B>31m'],
  ['a line end in a name', 'a\nb\r', 'a<U+000A>b<U+000D>'],
  ['text that runs the other way', 'a\u202eb', 'a<U+202E>b'],
  ['half a character', '\ud800', '<U+D800>'],
  ['what is seen', 'é 矩阵 e\u0301 🙂', 'é 矩阵 e\u0301 🙂'],
])('%s reaches a terminal only by name', (_, text, shown) => {
  expect(printable(text)).toBe(shown);
});

describe('a table', () => {
  test('aligns text to the left and numbers to the right', () => {
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
  test('shows control characters by name', () => {
    expect(table(['key'], [['A\u001b[31m\nB']])).toBe('key\nA<U+001B>[31m<U+000A>B');
  });
});

test.each([
  ['IREE_TUNED_BUDGT', ' (did you mean IREE_TUNED_BUDGET?)'],
  ['IREE_TUNED_ON_MSIS', ' (did you mean IREE_TUNED_ON_MISS?)'],
  ['SOMETHING_ELSE', ''],
])('the suggestion for %s is:%s', (typed, said) => {
  expect(didYouMean(typed, ['IREE_TUNED_BUDGET', 'IREE_TUNED_ON_MISS', 'IREE_TUNED_DB'])).toBe(said);
});

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
