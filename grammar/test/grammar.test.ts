import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const ebnf = readFileSync(join(root, 'mlir.ebnf'), 'utf8').replace(/\(\*[^]*?\*\)/g, '');
const productions = [...ebnf.matchAll(/^([a-z][a-z-]*)\s*=/gm)].map((match) => match[1]!);

/** Parts of other productions, which have no place of their own in the source. */
const parts = new Set([
  'suffix-id',
  'letter',
  'digit',
  'scope',
  'operation',
  'map-element',
  'map-result',
  'iterator',
  'iterator-name',
  'size',
  'statement',
  'operands',
  'type-definition',
  'module-head',
  'function',
  'parameter',
  'function-attributes',
  'opaque-braces',
  'item',
  'entry',
  'place',
]);

const marked = readdirSync(join(root, 'src'))
  .filter((name) => name.endsWith('.ts'))
  .flatMap((name) => [...readFileSync(join(root, 'src', name), 'utf8').matchAll(/\/\/ ebnf: ([a-z-]+)$/gm)])
  .map((match) => match[1]!);

test('every production is marked where it is implemented, once', () => {
  expect(marked.toSorted()).toEqual(productions.filter((name) => !parts.has(name)).toSorted());
});

test('every production is defined once', () => {
  expect(productions).toEqual([...new Set(productions)]);
});

test('every name on a right-hand side is a production, and every production is used', () => {
  const bare = ebnf.replace(/'[^'\n]*'|"[^"\n]*"|\?[^?]*\?/g, ' ');
  const rightHandSides = bare.replace(/^[a-z][a-z-]*\s*=/gm, ' ');
  const used = new Set([...rightHandSides.matchAll(/[a-z][a-z-]*/g)].map((match) => match[0]));
  expect([...used].filter((name) => !productions.includes(name))).toEqual([]);
  // Tokens that only opaque text holds are there for the scanner; the rest hangs together, below what readers begin with.
  const unused = productions.filter((name) => !used.has(name));
  expect(unused.toSorted()).toEqual([
    'dialect-attribute',
    'input',
    'integer',
    'location',
    'program',
    'symbol-definition',
    'trivia',
  ]);
});
