import type { Expression, Grammar } from './notation.ts';
import { escape, type Words, words } from './words.ts';

/** How a production derives a part of a text: [start, end), without the trivia around. */
export interface Tree {
  /** The name of a production, a terminal in quotes, or words between question marks. */
  readonly label: string;
  readonly start: number;
  readonly end: number;
  /** A token has none. Groups, options and repetitions are no trees of their own. */
  readonly children: readonly Tree[];
}

/** The tokens of a tree, without the empty ones. */
export function leavesOf(tree: Tree): Tree[] {
  if (tree.children.length > 0) return tree.children.flatMap(leavesOf);
  return tree.end > tree.start ? [tree] : [];
}

export const terminalLabel = (text: string): string => `"${text}"`;
export const wordsLabel = (text: string): string => `? ${text} ?`;

export function wordsFor(text: string): Words {
  const known = words[text];
  if (known === undefined) throw new Error(`words.ts has no ${wordsLabel(text)}`);
  return known;
}

/** The trees before a position, last first. */
type Path = { readonly tree: Tree; readonly before: Path } | null;

/** Each position that a derivation reaches, with the first way to it. */
type Reached = Map<number, Path>;

/** Derives texts from one grammar. Of several derivations of the same part of a text the first one counts. */
export class Deriver {
  private readonly grammar: Grammar;
  private readonly patterns = new Map<string, RegExp>();
  private text = '';
  private known = new Map<string, Map<number, Tree>>();

  constructor(grammar: Grammar) {
    this.grammar = grammar;
  }

  /** The derivation of all of the text from `production`; null when there is none. */
  derive(production: string, text: string): Tree | null {
    this.text = text;
    this.known = new Map();
    const isBytes = this.rule(production).unit === 'bytes';
    for (const [end, tree] of this.ends(production, 0))
      if ((isBytes ? end : this.skip(end)) === text.length) return tree;
    return null;
  }

  private rule(name: string) {
    const rule = this.grammar.get(name);
    if (rule === undefined) throw new Error(`${name} is no production`);
    return rule;
  }

  /** The derivations from `production` that begin at `start`, by their ends. */
  private ends(production: string, start: number): Map<number, Tree> {
    const key = `${production} ${start}`;
    let ends = this.known.get(key);
    if (ends !== undefined) return ends;
    ends = new Map<number, Tree>();
    this.known.set(key, ends);
    const { body, unit } = this.rule(production);
    if (unit === 'token') {
      const from = production === 'trivia' ? start : this.skip(start);
      const end = this.match(production, () => this.patternOf(body), from);
      if (end >= 0) ends.set(end, { label: production, start: from, end, children: [] });
      return ends;
    }
    for (const [end, path] of this.follow(body, new Map([[start, null]]), unit === 'bytes')) {
      const children: Tree[] = [];
      for (let rest = path; rest !== null; rest = rest.before) children.unshift(rest.tree);
      ends.set(end, { label: production, start: children[0]?.start ?? start, end, children });
    }
    return ends;
  }

  private follow(expression: Expression, from: Reached, isBytes: boolean): Reached {
    switch (expression.kind) {
      case 'sequence':
        return expression.parts.reduce((reached, part) => this.follow(part, reached, isBytes), from);
      case 'choice':
        return merged(...expression.parts.map((part) => this.follow(part, from, isBytes)));
      case 'optional':
        return merged(this.follow(expression.part, from, isBytes), from);
      case 'repeat':
      case 'times': {
        const result = new Map(from);
        let [last, count] = [from, expression.kind === 'times' ? expression.count : Infinity];
        if (expression.kind === 'times') result.clear();
        for (; last.size > 0 && count > 0; count--) {
          const next = this.follow(expression.part, last, isBytes);
          if (expression.kind === 'repeat') for (const end of result.keys()) next.delete(end);
          for (const [end, path] of next) result.set(end, path);
          last = next;
        }
        return expression.kind === 'times' ? last : result;
      }
      case 'name':
      case 'terminal':
      case 'words':
        return this.step(expression, from, isBytes);
    }
  }

  private step(
    { kind, text }: Extract<Expression, { text: string }>,
    from: Reached,
    isBytes: boolean,
  ): Reached {
    const reached: Reached = new Map();
    for (const [position, before] of from) {
      if (kind === 'name') {
        for (const [end, tree] of this.ends(text, position))
          if (!reached.has(end)) reached.set(end, { tree, before });
        continue;
      }
      const start = isBytes ? position : this.skip(position);
      const label = kind === 'words' ? wordsLabel(text) : terminalLabel(text);
      const pattern = () => (kind === 'words' ? wordsFor(text).pattern : terminalPattern(text));
      const end = this.match(label, pattern, start);
      if (end >= 0 && !reached.has(end))
        reached.set(end, { tree: { label, start, end, children: [] }, before });
    }
    return reached;
  }

  private skip(position: number): number {
    return this.match('trivia', () => this.patternOf(this.rule('trivia').body), position);
  }

  /** The end of the match at `start`, or -1. `patternOf` is called once for each key. */
  private match(key: string, patternOf: () => string, start: number): number {
    let pattern = this.patterns.get(key);
    if (pattern === undefined) this.patterns.set(key, (pattern = new RegExp(patternOf(), 'y')));
    pattern.lastIndex = start;
    return pattern.test(this.text) ? pattern.lastIndex : -1;
  }

  /** The source of a regular expression for an expression inside of a token. */
  private patternOf(expression: Expression): string {
    switch (expression.kind) {
      case 'sequence':
        return expression.parts.map((part) => this.patternOf(part)).join('');
      case 'choice':
        return `(?:${expression.parts.map((part) => this.patternOf(part)).join('|')})`;
      case 'optional':
        return `(?:${this.patternOf(expression.part)})?`;
      case 'repeat':
        return `(?:${this.patternOf(expression.part)})*`;
      case 'times':
        return `(?:${this.patternOf(expression.part)}){${expression.count}}`;
      case 'name':
        return this.patternOf(this.rule(expression.text).body);
      case 'terminal':
        return escape(expression.text);
      case 'words':
        return `(?:${wordsFor(expression.text).pattern})`;
    }
  }
}

/** A keyword is no part of a longer word. */
function terminalPattern(text: string): string {
  return `${escape(text)}${/[\w$.]$/.test(text) ? String.raw`(?![\w$.])` : ''}`;
}

function merged(...all: readonly Reached[]): Reached {
  const result: Reached = new Map();
  for (const reached of all) for (const [end, path] of reached) if (!result.has(end)) result.set(end, path);
  return result;
}
