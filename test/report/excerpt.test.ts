import { expect, test } from 'vitest';
import { excerpt, linesOf } from '../../src/report/excerpt.ts';
import { PLAIN } from '../../src/report/page.ts';
import { columnsOf } from '../../src/report/text.ts';

const page = (columns: number) => ({ ...PLAIN, columns });

/** The excerpt of a word and its line. */
function about(text: string, word: string, columns = 80): string {
  const bytes = Buffer.from(text);
  const at = bytes.indexOf(word);
  const line = bytes.subarray(0, at).filter((byte) => byte === 10).length + 1;
  const range = linesOf(bytes)(line)!;
  return excerpt(bytes, range, { line, column: at - range[0] + 1 }, page(columns));
}

/** The text above the underline. */
function underlined(shown: string): string {
  const [source, under] = shown.split('\n') as [string, string];
  const [from, length] = [under.indexOf('^'), under.slice(under.indexOf('^')).length];
  const cells = [...new Intl.Segmenter().segment(source)].flatMap(({ segment }) => [
    segment,
    ...Array<string>(Math.max(0, columnsOf(segment) - 1)).fill(''),
  ]);
  return cells.slice(from, from + length).join('');
}

test('an excerpt has the line number and underlines the operation', () => {
  expect(about('module {\n  %r = linalg.matmul ins(%a)\n}\n', 'linalg.matmul')).toBe(
    '   2 |   %r = linalg.matmul ins(%a)\n     |        ^~~~~~~~~~~~~',
  );
});

test.each([
  ['after tabs', '\t%r =\tlinalg.matmul ins(%a)'],
  ['after wide characters', '// 矩阵乘法 %r = linalg.matmul ins(%a)'],
  ['after combining ones', 'e\u0301a\u0308o\u0302 linalg.matmul x'],
  ['after what is no UTF-8', '\ufffd\ufffd linalg.matmul'],
  ['after what a terminal obeys', '\u001b[31m\u0007 linalg.matmul \u001b]0;title\u0007'],
  ['after text that runs the other way', '\u202e linalg.matmul'],
  ['at the end of a long line', `${'x, '.repeat(5000)}linalg.matmul`],
  ['at the beginning of one', `linalg.matmul ${'x, '.repeat(5000)}`],
  ['within one of wide characters', `${'矩'.repeat(500)} linalg.matmul ${'阵'.repeat(500)}`],
  ['with a line end of Windows', '  linalg.matmul\r\nmore'],
])('%s the underline is aligned, and the line is cut and has no control characters', (_, text) => {
  for (const columns of [40, 60, 80, 140]) {
    const shown = about(text, 'linalg.matmul', columns);
    expect(underlined(shown)).toBe('linalg.matmul');
    expect(shown.split('\n')[0]!.length).toBeLessThanOrEqual(columns);
    expect(shown).not.toMatch(/[^\n\P{Cc}]|\p{Cf}/u);
  }
});

test('only the shown part of a long line is read, and a page without a width cuts it, too', () => {
  const text = Buffer.from(`${'0'.repeat(50_000_000)} linalg.matmul ${'1'.repeat(50_000_000)}\n`);
  const at = text.indexOf('linalg');
  const shown = excerpt(text, [0, text.length - 1], { line: 1, column: at + 1 }, page(80));
  expect(shown).toMatch(/…0+ linalg\.matmul 1+…/);
  const piped = excerpt(text, [0, text.length - 1], { line: 1, column: at + 1 }, PLAIN);
  expect(piped.split('\n')[0]!.length).toBeLessThanOrEqual(160);
});

test('lines are found by number in any order', () => {
  const lineAt = linesOf(Buffer.from('a\n\nccc\r\nd'));
  expect([4, 1, 2, 3, 5].map((line) => lineAt(line))).toEqual([[8, 9], [0, 1], [2, 2], [3, 6], null]);
});

test('a word wider than the page, and a column beyond the line, give an excerpt', () => {
  expect(
    about(`x ${'y'.repeat(200)}`, 'yyy', 40)
      .split('\n')
      .every((line) => columnsOf(line) <= 40),
  ).toBe(true);
  expect(excerpt(Buffer.from('ab'), [0, 2], { line: 1, column: 99 }, page(40))).toBe('   1 | ab\n     |   ^');
});
