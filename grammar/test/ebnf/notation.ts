/** A right-hand side. */
export type Expression =
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Expression[] }
  | { readonly kind: 'optional' | 'repeat'; readonly part: Expression }
  | { readonly kind: 'times'; readonly count: number; readonly part: Expression }
  /** The text of a terminal, the name of a production, or the words between question marks. */
  | { readonly kind: 'terminal' | 'name' | 'words'; readonly text: string };

export interface Rule {
  readonly body: Expression;
  /** From the comment behind the rule. Neither has trivia inside, and a token takes as much text as it can. */
  readonly unit: 'token' | 'bytes' | null;
}

export type Grammar = ReadonlyMap<string, Rule>;

const TOKEN =
  /\s+|\(\*([^]*?)\*\)|"([^"\n]*)"|'([^'\n]*)'|\?\s*([^?]*?)\s*\?|([a-z][a-z-]*)|(\d+)|([-=|,;()[\]{}*])/y;
const ESCAPES: Readonly<Record<string, string>> = { '\\t': '\t', '\\n': '\n', '\\r': '\r', '\\0': '\0' };
const CLOSERS = { '(': ')', '[': ']', '{': '}' } as const;

type Token =
  Extract<Expression, { text: string }> | { readonly kind: 'mark' | 'count' | 'unit'; readonly text: string };

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    const match = TOKEN.exec(text);
    if (match === null) throw new Error(`no EBNF at ${JSON.stringify(text.slice(at, at + 40))}`);
    const [, comment, double, single, words, name, count, mark] = match;
    const terminal = double ?? single;
    const unit = comment === undefined ? undefined : /^ (token|bytes)\b/.exec(comment)?.[1];
    if (terminal !== undefined) tokens.push({ kind: 'terminal', text: ESCAPES[terminal] ?? terminal });
    else if (words !== undefined) tokens.push({ kind: 'words', text: words });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else if (count !== undefined) tokens.push({ kind: 'count', text: count });
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark });
    else if (unit !== undefined) tokens.push({ kind: 'unit', text: unit });
  }
  return tokens;
}

/** Reads the part of ISO 14977 that mlir.ebnf uses. Throws an error for any other text. */
export function readGrammar(text: string): Grammar {
  const tokens = tokensOf(text);
  const grammar = new Map<string, Rule>();
  let at = 0;

  const isMark = (mark: string): boolean => tokens[at]?.kind === 'mark' && tokens[at]?.text === mark;
  const skip = (mark: string): void => {
    if (!isMark(mark)) throw new Error(`expected '${mark}', not '${tokens[at]?.text ?? 'the end'}'`);
    at++;
  };
  const listOf = (kind: 'sequence' | 'choice', separator: string, read: () => Expression): Expression => {
    const parts = [read()];
    for (; isMark(separator); parts.push(read())) at++;
    return parts.length === 1 ? parts[0]! : { kind, parts };
  };
  const choice = (): Expression => listOf('choice', '|', () => listOf('sequence', ',', factor));
  const factor = (): Expression => {
    const token = tokens[at++];
    if (token?.kind === 'count') {
      skip('*');
      return { kind: 'times', count: Number(token.text), part: factor() };
    }
    if (token?.kind === 'terminal' || token?.kind === 'name' || token?.kind === 'words') return token;
    const opener = token?.text;
    if (opener !== '(' && opener !== '[' && opener !== '{')
      throw new Error(`no expression starts with '${opener ?? 'the end'}'`);
    const part = choice();
    skip(CLOSERS[opener]);
    return opener === '(' ? part : { kind: opener === '[' ? 'optional' : 'repeat', part };
  };

  while (at < tokens.length) {
    const name = tokens[at++]!;
    if (name.kind !== 'name') throw new Error(`expected a production, not '${name.text}'`);
    if (grammar.has(name.text)) throw new Error(`${name.text} is defined twice`);
    skip('=');
    const body = choice();
    skip(';');
    const unit = tokens[at]?.kind === 'unit' ? (tokens[at++]!.text as 'token' | 'bytes') : null;
    grammar.set(name.text, { body, unit });
  }
  return grammar;
}

/** Every expression in this one, itself first. */
export function* within(expression: Expression): Generator<Expression> {
  yield expression;
  if ('parts' in expression) for (const part of expression.parts) yield* within(part);
  else if ('part' in expression) yield* within(expression.part);
}
