import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pageOn, type Page } from '../../src/report/page.ts';
import { formatDuration, formatSeconds } from '../../src/system/format.ts';
import { table } from '../../src/report/table.ts';
import { columnsOf, printable, shortened, wrapped } from '../../src/report/text.ts';
import { didYouMean } from '../../src/report/unknown-settings.ts';

const pageOf = (columns: number): Page => pageOn({ isTTY: true, columns }, {});

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

test('a shortened text keeps its ends and fits', () => {
  expect(shortened('abcdefghij', 7)).toBe('abc…hij');
  expect(shortened('abcdefghij', 10)).toBe('abcdefghij');
  expect(shortened('矩阵乘法矩阵', 7)).toBe('矩…阵');
  expect(shortened('abc', 1)).toBe('…');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 40 }), (text, columns) => {
      const safe = printable(text);
      expect(columnsOf(shortened(safe, columns))).toBeLessThanOrEqual(Math.max(columns, 0));
    }),
  );
});

test('lines are broken between words, and long words stay whole', () => {
  expect(wrapped('one two three', 8, '  ')).toBe('one two\n  three');
  expect(wrapped('  label   value and more', 16, '    ')).toBe('  label   value\n    and more');
  expect(wrapped('0123456789 x', 5)).toBe('0123456789\nx');
  expect(wrapped('it took 17.3 s. The rest', 12)).toBe('it took\n17.3 s. The\nrest');
  expect(wrapped('it took 17.3 s', 12)).toBe('it took\n17.3 s');
  expect(wrapped('2 sorts of 3 things', 8)).toBe('2 sorts\nof 3\nthings');
  expect(wrapped('whatever it is', Infinity)).toBe('whatever it is');
});

describe('a table', () => {
  const header = ['workload', 'gain', 'device'];
  const rows = [
    ['m=512 n=512 k=512 f32,f32->f32', '1.50x', 'AMD EPYC 9654 96-Core Processor local-task'],
    ['m=8 n=8 k=8 f32,f32->f32', '12.00x', 'another one'],
  ];
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
  test('is as wide as its cells without a terminal', () => {
    expect(table(header, rows)).toContain(rows[0]![2]);
    expect(table(header, rows)).toContain(rows[0]![0]);
  });
  test.each([60, 80, 140])('fits a terminal of %d columns', (columns) => {
    const lines = table(header, rows, pageOf(columns)).split('\n');
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
    expect(lines[1]).toContain(' 1.50x');
    expect(lines.some((line) => line.includes('…'))).toBe(columns < 90);
  });
  test('becomes paragraphs on a very narrow page', () => {
    expect(table(header, rows, pageOf(30))).toBe(
      `m=512 n=512 k=512 f32,f32->f32
  gain      1.50x
  device    AMD EPYC 9654
            96-Core Processor
            local-task

m=8 n=8 k=8 f32,f32->f32
  gain      12.00x
  device    another one`,
    );
  });
  test('shows control characters by name', () => {
    expect(table(['key'], [['A\u001b[31m\nB']])).toBe('key\nA<U+001B>[31m<U+000A>B');
  });
});

test.each([
  [{ isTTY: true, depth: 8 }, {}, true],
  [{ isTTY: true, depth: 8 }, { NO_COLOR: '1' }, false],
  [{ isTTY: true, depth: 8 }, { NO_COLOR: '' }, true],
  [{ isTTY: true, depth: 1 }, { TERM: 'dumb' }, false],
  [{ depth: 8 }, {}, false],
  [{ depth: 1 }, { FORCE_COLOR: '1' }, true],
  [{ depth: 1 }, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  [{ isTTY: true, depth: 8 }, { FORCE_COLOR: '0' }, false],
])('on %j with %j there are colours: %j', ({ depth, ...paper }, env, isColoured) => {
  const page = pageOn({ ...paper, columns: 80, getColorDepth: () => depth }, env);
  expect(page.paint('red', 'x') !== 'x').toBe(isColoured);
});

test('a terminal of unknown width has 80 columns, or COLUMNS', () => {
  expect(pageOn({ isTTY: true }, {}).columns).toBe(80);
  expect(pageOn({ isTTY: true, columns: 0 }, { COLUMNS: '132' }).columns).toBe(132);
  expect(pageOn({ columns: 100 }, { COLUMNS: '132' }).columns).toBe(Infinity);
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
