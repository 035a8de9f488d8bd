// Texts of a comparison.
import { expect, test } from 'vitest';
import type { ComparedBuild, Comparison } from '../../../src/running/comparison/compare.ts';
import { HEADER, notesOf, rowsOf, sentenceOf } from '../../../src/running/comparison/words.ts';

const build = (name: string, milliseconds: number, more: Partial<ComparedBuild> = {}): ComparedBuild => {
  const seconds = milliseconds / 1000;
  const over = (other: number) => ({
    ratio: other / seconds,
    low: 0.9 * (other / seconds),
    high: 1.1 * (other / seconds),
  });
  return {
    ...{ name, flags: [], error: null, sameCodeAs: null, compileSeconds: 2 },
    seconds: { seconds, low: 0.9 * seconds, high: 1.1 * seconds },
    ...{ againstBest: over(0.01), againstDefault: over(0.02), ...more },
  };
};

/** A default of 20 ms, O3 of 10 ms, and tuned. */
const comparison = (tuned: ComparedBuild, more: Partial<Comparison> = {}): Comparison => ({
  builds: [build('default', 20), build('O3', 10, { flags: ['--iree-opt-level=O3'] }), tuned],
  best: 'O3',
  results: [{ name: 'main', equal: true, maxError: 0, compared: 'equal bit for bit', reason: null }],
  ...{ skipped: [], explanation: null, rounds: 15, ...more },
});

const results = (equal: boolean | null, reason: string): Comparison['results'] => [
  { name: 'main', equal, maxError: 1, compared: null, reason },
];

test('a row has times, ratios above 1 for faster builds, and results of tuned alone', () => {
  const explanation = { time: { decided: 0.5, atBound: 0.25 } } as unknown as Comparison['explanation'];
  const rows = rowsOf(comparison(build('tuned', 5), { explanation }));
  expect(rows.map(({ length }) => length)).toEqual([HEADER.length, HEADER.length, HEADER.length]);
  expect(rows[0]).toEqual(['default', '20', '18 to 22', '0.50x', '1.00x', '2.0 s', '-', '-']);
  expect(rows[2]).toEqual(['tuned', '5', '4.5 to 5.5', '2.00x', '4.00x', '2.0 s', 'equal', '75%']);
});

test('a build without a time has a row and a note', () => {
  const failed = { seconds: null, againstBest: null, againstDefault: null };
  const all = comparison(build('tuned', 5, { ...failed, error: 'it takes more than 9 s' }), { results: [] });
  expect(rowsOf(all)[2]).toEqual(['tuned', '-', '-', '-', '-', '2.0 s', 'unknown', '-']);
  expect(notesOf(all)).toEqual(['tuned has no time: it takes more than 9 s']);
  expect(sentenceOf(all)).toBe('The tuned build has no result: it takes more than 9 s.');
});

test('builds with the same code, and functions that are not called, have notes', () => {
  const skipped = [{ name: 'other', code: 'not-callable', reason: 'its inputs are too large' }] as const;
  expect(notesOf(comparison(build('tuned', 10, { sameCodeAs: 'O3' }), { skipped }))).toEqual([
    ...['tuned has the same code as O3.', '@other is not called: its inputs are too large'],
  ]);
});

test.each<[string, Comparison, RegExp]>([
  [
    'faster',
    comparison(build('tuned', 5)),
    /^Tuned is 2\.00x as fast as the best of stock \(O3; 99% interval 1\.80x to 2\.20x\), with equal results\.$/,
  ],
  [
    'slower, with the way out',
    comparison(build('tuned', 20)),
    /^Tuned is slower than .* \(O3; 0\.50x, .*\), with equal results: iree-compile with --iree-opt-level=O3 is faster\.$/,
  ],
  [
    'slower than the default, with the way out',
    comparison(build('tuned', 20), { best: 'default' }),
    /: IREE_TUNED_DISABLE=1 builds without tuning\.$/,
  ],
  [
    'no difference',
    comparison(build('tuned', 10, { againstBest: { ratio: 1, low: 0.97, high: 1.02 } })),
    /^There is no difference between tuned and the best of stock \(O3; 1\.00x, 99% interval 0\.97x to 1\.02x\), with/,
  ],
  [
    'too much noise, with the way out',
    comparison(build('tuned', 10)),
    /^The noise hides a difference between tuned and .*, with equal results: repeat the command on an idle machine\.$/,
  ],
  [
    'the same code',
    comparison(build('tuned', 10, { sameCodeAs: 'O3' })),
    /^Tuned has the code of the best of stock \(O3; nothing faster is known\), with equal results\.$/,
  ],
  [
    'other results',
    comparison(build('tuned', 5), { results: results(false, 'result 0: element 3 is 1 instead of 2') }),
    /^Do not use the tuned build: .* \(@main: result 0: element 3 is 1 instead of 2\)\.$/,
  ],
  [
    'unknown results',
    comparison(build('tuned', 5), { results: results(null, 'result 0 is NaN') }),
    /^Tuned is 2\.00x .*, with unknown results \(@main: result 0 is NaN\)\.$/,
  ],
])('the sentence says: %s', (_, all, sentence) => {
  expect(sentenceOf(all)).toMatch(sentence);
});
