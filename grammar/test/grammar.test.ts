// The grammar and the code must agree about examples and about derived sentences, with and without one of their tokens. Mutants of
// the grammar show that the examples suffice.
// In full after a change of grammar/mlir.ebnf, grammar/src, grammar/test/ebnf.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Check, firstOf } from './ebnf/check.ts';
import { mutantsOf } from './ebnf/mutants.ts';
import { type Grammar, readGrammar, within } from './ebnf/notation.ts';
import type { Reader } from './ebnf/reader.ts';
import { readers } from './ebnf/readers.ts';
import { words } from './ebnf/words.ts';

const root = join(import.meta.dirname, '..');
const text = readFileSync(join(root, 'mlir.ebnf'), 'utf8');
const grammar = readGrammar(text);

/** Sentences derived from each production. */
const SENTENCES = 60;

const mentions = (production: string, kind: 'name' | 'words'): string[] =>
  [...within(grammar.get(production)!.body)].flatMap((one) => (one.kind === kind ? [one.text] : []));

/** The production of a reader and all productions inside; all of them contain trivia. */
function reachedBy({ production }: Reader): ReadonlySet<string> {
  const reached = new Set([production, 'trivia']);
  for (const one of reached) for (const name of mentions(one, 'name')) reached.add(name);
  return reached;
}

const reached = new Map(readers.map((reader) => [reader, reachedBy(reader)]));

/** The first problem of any reader with a production. Readers of few productions come first. */
function problemOf(
  changed: Grammar,
  production: string,
  find: (check: Check) => string | null,
): string | null {
  const concerned = readers
    .filter((reader) => reached.get(reader)!.has(production))
    .toSorted((one, other) => reached.get(one)!.size - reached.get(other)!.size);
  return firstOf(concerned, (reader) => find(new Check(changed, reader)));
}

describe.each(readers.map((reader) => [reader.production, reader] as const))('%s', (_, reader) => {
  const check = new Check(grammar, reader);

  test('gives its examples the meaning that the code reads', () => {
    expect(check.examples()).toBeNull();
  });

  test('agrees with the code about examples without one token', () => {
    expect(check.damagedExamples()).toBeNull();
  });

  test('gives its sentences the meaning that the code reads', () => {
    expect(check.generated(SENTENCES)).toBeNull();
  });
});

test('every production is part of a reader', () => {
  const all = new Set([...reached.values()].flatMap((names) => [...names]));
  expect([...grammar.keys()].filter((production) => !all.has(production))).toEqual([]);
});

test('all words between question marks have a meaning, and every meaning is used', () => {
  const used = new Set([...grammar.keys()].flatMap((production) => mentions(production, 'words')));
  expect(Object.keys(words).toSorted()).toEqual([...used].toSorted());
});

describe('a mistake in the grammar is noticed', () => {
  test(
    'when a production is empty, or lacks an alternative, an option, a repetition or a token',
    { tags: 'full' },
    () => {
      // In a chunk, plain tokens have the same meaning.
      const unnoticed = ['chunk: no alias-definition', 'chunk: no constant'];
      const mutants = mutantsOf(grammar).filter(({ name }) => !unnoticed.includes(name));
      const find = (check: Check) => check.examples() ?? check.damagedExamples();
      const missed = mutants.filter((mutant) => problemOf(mutant.grammar, mutant.production, find) === null);
      expect(missed.map(({ name }) => name)).toEqual([]);
    },
  );

  test.each([
    ['suffix-id', '| [ ( letter |', '| [ ( letter | digit |'],
    ['affine-map', '"affine_map" , "<" , "("', '"affine_map" , [ "<" ] , "("'],
    ['attribute', '[ "=" , element ]', '[ [ "=" ] , element ]'],
    ['map-term', '"*" , decimal', '"*" , number'],
    ['iterator', `'"parallel"'`, `'"' , "parallel" , '"'`],
    ['clause-word', '| "->" ;', '| "->" | "-" ;'],
    ['result-types', '"->" , ( "(" , type-list', '[ "->" ] , ( "(" , type-list'],
    ['operand-lists', '"outs" ,', '[ "outs" ] ,'],
    ['size', '= decimal |', '= number |'],
    ['statement', '= value-id , "=" ,', '= value-id , [ "=" ] ,'],
    ['place', '":" , decimal ;', '[ ":" , decimal ] ;'],
    ['constant', '3 * [ bare-id ]', '{ bare-id }'],
    ['integer', '( decimal | hexadecimal )', 'number'],
  ])('when %s has %j as %j', (production, part, looser) => {
    const start = text.indexOf(`\n${production} `);
    const at = text.indexOf(part, start);
    expect(text.indexOf(';', start)).toBeGreaterThan(at);
    const changed = text.slice(0, at) + looser + text.slice(at + part.length);
    const find = (check: Check) =>
      check.examples() ?? check.damagedExamples() ?? check.generated(5 * SENTENCES, 1);
    expect(problemOf(readGrammar(changed), production, find)).not.toBeNull();
  });
});

/** Parts of other productions, without a separate place in the source. */
const parts = [
  'suffix-id letter digit decimal hexadecimal word token group inner part plain scope held contents operation call',
  'clause-word map-element map-term statement operands tail element-type encoding unranked size plain-type',
  'dialect-attribute-text dialect-type-text function-type type-definition function parameter item entry places',
].flatMap((names) => names.split(' '));

const marked = readdirSync(join(root, 'src'))
  .filter((name) => name.endsWith('.ts'))
  .flatMap((name) => [...readFileSync(join(root, 'src', name), 'utf8').matchAll(/\/\/ ebnf: ([a-z-]+)$/gm)])
  .map((match) => match[1]!);

test('every production is marked where it is implemented, once', () => {
  const own = [...grammar.keys()].filter((name) => !parts.includes(name));
  expect(marked.toSorted()).toEqual(own.toSorted());
});
