import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { Deriver, leavesOf, type Tree } from './derive.ts';
import { Generator } from './generate.ts';
import type { Grammar } from './notation.ts';
import { type Reader, Refused, Unsaid } from './reader.ts';

type Problem = string | null;

/** The meaning of a sentence about which mlir.ebnf is silent. */
const UNSAID = Symbol();

const hasMeaning = (meaning: unknown): boolean => meaning !== null && meaning !== UNSAID;

/** An angle bracket without its partner may be a comparison. */
const ANGLE = /^[<>]$/;

/** Holds a grammar to one reader. Each method returns the first problem, or null. */
export class Check {
  private readonly reader: Reader;
  private readonly grammar: Grammar;
  private readonly deriver: Deriver;

  constructor(grammar: Grammar, reader: Reader) {
    this.grammar = grammar;
    this.reader = reader;
    this.deriver = new Deriver(grammar);
  }

  /** The grammar and the code agree about each example. */
  examples(): Problem {
    const { examples, refused = [] } = this.reader;
    const problem = firstOf(examples, (text) => {
      const tree = this.derive(text);
      if (tree === null) return this.problem(text, 'not derived');
      return hasMeaning(this.meaning(text, tree))
        ? this.compare(text, tree)
        : this.problem(text, 'no meaning');
    });
    return problem ?? firstOf(refused, (text) => this.compare(text, this.derive(text)));
  }

  /** The grammar and the code agree about each example without one of its tokens, which may be no sentence. */
  damagedExamples(): Problem {
    return firstOf(this.reader.examples, (text) => {
      const tree = this.derive(text);
      return tree === null ? null : firstOf(leavesOf(tree), (token) => this.damaged(text, token));
    });
  }

  /** The grammar and the code agree about sentences of the grammar, with and without one of their tokens. */
  generated(numRuns: number, seed?: number): Problem {
    let meaningful = 0;
    /** The last one is about the smallest sentence. */
    const problems: string[] = [];
    const sentences = new Generator(this.grammar, this.reader.choices).sentences(this.reader.production);
    const property = fc.property(sentences, fc.nat(), (text, number) => {
      const tree = this.derive(text);
      const tokens = tree === null ? [] : leavesOf(tree);
      const token = tokens[number % tokens.length];
      if (tree !== null && hasMeaning(this.meaning(text, tree))) meaningful++;
      const wrong = tree === null ? this.problem(text, 'made but not derived') : this.compare(text, tree);
      const found = wrong ?? (token === undefined ? null : this.damaged(text, token));
      if (found !== null) problems.push(found);
      return found === null;
    });
    const details = fc.check(property, { numRuns, ...(seed !== undefined && { seed, endOnFailure: true }) });
    if (details.failed) return problems.at(-1) ?? String(details.errorInstance);
    return meaningful > numRuns / 20
      ? null
      : this.problem('', `${meaningful} of ${numRuns} sentences mean something`);
  }

  private derive(text: string): Tree | null {
    return this.deriver.derive(this.reader.production, text);
  }

  private compare(text: string, tree: Tree | null): Problem {
    const said = tree === null ? null : this.meaning(text, tree);
    if (said === UNSAID) return null;
    const read = readOnce(this.reader, text);
    return isDeepStrictEqual(said, read)
      ? null
      : this.problem(text, `says ${shown(said)}, reads ${shown(read)}`);
  }

  private damaged(text: string, { start, end }: Tree): Problem {
    if ((this.reader.expendable ?? ANGLE).test(text.slice(start, end))) return null;
    const rest = `${text.slice(0, start)} ${text.slice(end)}`;
    return this.compare(rest, this.derive(rest));
  }

  private meaning(text: string, tree: Tree): unknown {
    try {
      return this.reader.says(text, tree);
    } catch (error) {
      if (error instanceof Refused) return null;
      if (error instanceof Unsaid) return UNSAID;
      // The tree lacks a part: the grammar has a mistake.
      return error;
    }
  }

  private problem(text: string, message: string): string {
    return `${this.reader.production}: ${JSON.stringify(text)}: ${message}`;
  }
}

function shown(value: unknown): string {
  return value instanceof Error ? String(value) : JSON.stringify(value);
}

/** Many grammars share their sentences, and the code reads each of them once. */
const readings = new WeakMap<Reader, Map<string, unknown>>();

function readOnce(reader: Reader, text: string): unknown {
  const known = readings.get(reader) ?? new Map<string, unknown>();
  readings.set(reader, known);
  if (!known.has(text)) known.set(text, reader.read(text));
  return known.get(text);
}

/** The first problem with an element of a list, or null. */
export function firstOf<T>(list: readonly T[], problemOf: (one: T) => Problem): Problem {
  for (const one of list) {
    const problem = problemOf(one);
    if (problem !== null) return problem;
  }
  return null;
}
