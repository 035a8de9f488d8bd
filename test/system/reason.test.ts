import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { because, isReasonData, meaningOf, REASONS, type ReasonCode } from '../../src/system/reason.ts';
import { root } from '../support/folders.ts';

const codes = Object.keys(REASONS) as ReasonCode[];

const list = join('system', 'reason.ts');

/** Sources of the program, without the list of codes. */
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join(root, 'src', path), 'utf8');
    return path === list ? text.slice(text.indexOf('} as const;')) : text;
  })
  .join('\n');

/** How the program gives a reason: directly, or as one of several codes. A comparison does not count. */
const GIVES = String.raw`(?:\b(?:because|skip)\(\s*(?:\w+ )?|[?:] |return |REASONS\[)`;

test.each(codes)('some part of the program gives the reason %s', (code) => {
  expect(sources).toMatch(new RegExp(`${GIVES}'${code}'`));
});

test.each(Object.entries(REASONS))('%s means one short line', (code, meaning) => {
  expect(code).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
  expect(meaning).toMatch(/^[^\n]{5,110}$/);
});

test('a reason has the meaning of its code as its text, or a text of its own', () => {
  expect(because('no-record')).toEqual({ code: 'no-record', reason: 'there was no record' });
  expect(because('no-record', 'none of m=8')).toEqual({ code: 'no-record', reason: 'none of m=8' });
});

test('a cached reason with a code of another version is none', () => {
  expect(isReasonData(because('faster'))).toBe(true);
  expect(isReasonData({ code: 'quicker', reason: 'it is quicker' })).toBe(false);
  expect(isReasonData({ code: 'toString', reason: '' })).toBe(false);
  expect(isReasonData('faster')).toBe(false);
});

test('a counted code is shown with its meaning, and a counted text as it is', () => {
  expect(meaningOf('no-record')).toBe('no-record: there was no record');
  expect(meaningOf('there was no record')).toBe('there was no record');
});
