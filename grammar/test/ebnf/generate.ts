import fc from 'fast-check';
import { wordsFor } from './derive.ts';
import type { Expression, Grammar } from './notation.ts';

/**
 * Texts for parts of productions, by `production/part`: a list to choose from for each occurrence of the part, the last
 * list for all further ones. Comments of mlir.ebnf that restrict a part need them, such as the count of operands.
 */
export type Choices = Readonly<Record<string, readonly (readonly string[])[]>>;

/** Most productions in one another, as long as the grammar leaves a choice. */
const DEEPEST = 7;
const LONGEST_REPETITION = 2;

/** Text between two tokens. */
const GAPS = [' ', '', '\n', ' // ) }\n', '\t\0'];

type Tokens = readonly string[];
const nothing = fc.constant<Tokens>([]);

/** Makes sentences of the productions of one grammar. */
export class Generator {
  private readonly grammar: Grammar;
  private readonly choices: Choices;
  private readonly heights = new Map<string, number>();
  private readonly known = new Map<string, fc.Arbitrary<Tokens>>();

  constructor(grammar: Grammar, choices: Choices = {}) {
    this.grammar = grammar;
    this.choices = choices;
    // Shorter derivations make others shorter, until nothing changes any more.
    for (let changed = true; changed;) {
      changed = false;
      for (const [name, { body }] of grammar) {
        const height = 1 + this.height(body);
        changed ||= height < (this.heights.get(name) ?? Infinity);
        this.heights.set(name, height);
      }
    }
  }

  /** Texts of the production, with all kinds of gaps between their tokens. */
  sentences(production: string): fc.Arbitrary<string> {
    const tokens = this.tokens(production, DEEPEST);
    if (this.grammar.get(production)?.unit === 'bytes') return tokens.map((list) => list.join(''));
    const gaps = fc.array(fc.constantFrom(...GAPS), { minLength: 1, maxLength: 5 });
    return fc.tuple(tokens, gaps).map(([list, between]) => joined(list, between));
  }

  /** Fewest productions in one another that the expression needs. */
  private height(expression: Expression): number {
    switch (expression.kind) {
      case 'sequence':
        return Math.max(0, ...expression.parts.map((part) => this.height(part)));
      case 'choice':
        return Math.min(...expression.parts.map((part) => this.height(part)));
      case 'name':
        return this.heights.get(expression.text) ?? Infinity;
      case 'optional':
      case 'repeat':
      case 'times':
      case 'terminal':
      case 'words':
        return 0;
    }
  }

  private tokens(production: string, depth: number): fc.Arbitrary<Tokens> {
    const key = `${production} ${depth}`;
    let tokens = this.known.get(key);
    if (tokens === undefined) {
      const { body, unit } = this.grammar.get(production)!;
      const parts = this.expand(body, depth, production, new Map());
      tokens = unit === 'token' ? parts.map((list) => [list.join('')]) : parts;
      this.known.set(key, tokens);
    }
    return tokens;
  }

  private expand(
    expression: Expression,
    depth: number,
    owner: string,
    seen: Map<string, number>,
  ): fc.Arbitrary<Tokens> {
    const expand = (part: Expression) => this.expand(part, depth, owner, seen);
    switch (expression.kind) {
      case 'sequence':
        return fc.tuple(...expression.parts.map(expand)).map((parts) => parts.flat());
      case 'choice': {
        const parts = expression.parts.map((part) => ({
          height: this.height(part),
          arbitrary: expand(part),
        }));
        const low = Math.max(depth, Math.min(...parts.map(({ height }) => height)));
        return fc.oneof(...parts.filter(({ height }) => height <= low).map(({ arbitrary }) => arbitrary));
      }
      case 'optional':
      case 'times':
      case 'repeat': {
        const part = expand(expression.part);
        if (expression.kind === 'times')
          return fc.tuple(...Array<typeof part>(expression.count).fill(part)).map((parts) => parts.flat());
        if (this.height(expression.part) > depth) return nothing;
        if (expression.kind === 'optional') return fc.oneof(nothing, part);
        return fc.array(part, { maxLength: LONGEST_REPETITION }).map((parts) => parts.flat());
      }
      case 'terminal':
        return fc.constant([expression.text]);
      case 'words':
      case 'name': {
        const { text } = expression;
        const occurrence = seen.get(text) ?? 0;
        seen.set(text, occurrence + 1);
        const choice = this.choices[`${owner}/${text}`];
        const texts = choice?.[occurrence] ?? choice?.at(-1) ?? this.samples(expression);
        if (texts !== null) return fc.constantFrom(...texts).map((one) => [one]);
        return lazy(() => this.tokens(text, depth - 1));
      }
    }
  }

  private samples({ kind, text }: Extract<Expression, { text: string }>): Tokens | null {
    if (kind === 'words') return wordsFor(text).samples;
    // An unterminated comment would swallow the following text.
    return text === 'trivia' ? GAPS : null;
  }
}

/** An arbitrary that is made when it is used: productions refer to each other in circles. */
function lazy<T>(make: () => fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.constant(null).chain(make);
}

function joined(tokens: Tokens, gaps: Tokens): string {
  return tokens.reduce((text, token, index) => {
    const gap = token === '' ? '' : gaps[index % gaps.length]!;
    return text + (gap === '' && !mayTouch(text, token) ? ' ' : gap) + token;
  }, '');
}

/** Whether two tokens surely stay two without a gap. */
function mayTouch(before: string, after: string): boolean {
  return (
    before === '' ||
    after === '' ||
    /[([,]$/.test(before) ||
    (/^[)\],>]/.test(after) && !/[-@#]$/.test(before))
  );
}
