// docs/reasons.md lists the codes of reasons, and docs/troubleshooting.md links to it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REASONS } from '../../src/system/reason.ts';
import { root } from '../support/folders.ts';

const read = (name: string) => readFileSync(join(root, 'docs', name), 'utf8');

test('the page lists every code with its meaning, in the order of the code', () => {
  const rows = [...read('reasons.md').matchAll(/^\| `(.*)` \| (.*) \|$/gm)];
  expect(rows.map(([, code, meaning]) => [code, meaning])).toEqual(Object.entries(REASONS));
});

test('the page about messages links to the codes', () => {
  expect(read('troubleshooting.md')).toContain('(reasons.md)');
});
