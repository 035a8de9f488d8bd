import type { Source } from '../../src/dictionary.ts';
import { stringOf } from '../../src/main.ts';
import { CLOSE_PAREN } from '../../src/characters.ts';
import { END } from '../../src/scanner.ts';
import { sourceOf, walk } from '../../src/source.ts';
import type { Tree } from './derive.ts';
import type { Choices } from './generate.ts';

/** The code that reads a production, and the meaning of the production. */
export interface Reader {
  readonly production: string;
  /** Sentences with a meaning. The examples of all readers together need every part of every production. */
  readonly examples: readonly string[];
  /** Texts that are no sentences. */
  readonly refused?: readonly string[];
  readonly choices?: Choices;
  /** Tokens whose loss the code may overlook; by default angle brackets. */
  readonly expendable?: RegExp;
  /** The result of the code; null when it does not take all of the text for a sentence. */
  read(text: string): unknown;
  /** The same from the derivation, independent of the code. Throws {@link Refused} or {@link Unsaid}. */
  says(text: string, tree: Tree): unknown;
}

/** A comment of mlir.ebnf excludes the sentence. */
export class Refused extends Error {}

/** Neither production nor comment tells the meaning of the sentence. */
export class Unsaid extends Error {}

/** One byte for each character. */
export const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'latin1');

export const textOf = (text: string, { start, end }: Pick<Tree, 'start' | 'end'>): string =>
  new TextDecoder().decode(bytesOf(text.slice(start, end)));

/** The content of a string, or the text of anything else. */
export function nameOf(text: string, tree: Pick<Tree, 'start' | 'end'>): string {
  const name = textOf(text, tree);
  return stringOf(name) ?? name;
}

export const partOf = (tree: Tree, label: string): Tree | undefined =>
  tree.children.find((child) => child.label === label);

export const partsOf = (tree: Tree, label: string): Tree[] =>
  tree.children.filter((child) => child.label === label);

/** A source at the beginning of the sentence that knows the aliases of all of its text. */
export function sourceAt(before: string, sentence: string, after = ''): Source {
  const source = sourceOf(bytesOf(before + sentence + after));
  walk(source, () => undefined);
  source.scanner.pos = before.length;
  return source;
}

/** Reads a sentence up to the end of the text; `before` defines aliases. */
export function whole(read: (source: Source) => unknown, before = ''): Reader['read'] {
  return (text) => {
    const source = sourceAt(before, text);
    const value = read(source);
    return source.scanner.next() === END ? value : null;
  };
}

/** Reads a sentence with code that also takes the `)` behind it. */
export function closed(read: (source: Source) => unknown): Reader['read'] {
  return (text) => {
    const source = sourceAt('', text, ')');
    const value = read(source);
    return source.scanner.at(CLOSE_PAREN) && source.scanner.start === text.length ? value : null;
  };
}
