// Tokens of MLIR text, as far as the heads of functions need them.

/** Half of what a string can hold. What makes a file longer are resources, which come last. */
const MOST_BYTES = 2 ** 28;

const TOKEN = /->|[%!#^][\w$.-]+|@?[A-Za-z0-9_$.]+|[^]/y;

/** One pass over a text. Never throws, and ends on any bytes. */
export class Lexer {
  private readonly text: string;
  private pos = 0;

  constructor(bytes: Uint8Array) {
    const { buffer, byteOffset, length } = bytes;
    // One character per byte: nothing that matters here is beyond ASCII, except in quoted names.
    this.text = Buffer.from(buffer, byteOffset, Math.min(length, MOST_BYTES)).toString('latin1');
  }

  /** The next token; '' for ever at the end. A string keeps its quotes, and so does a quoted `@"symbol"`. */
  next(): string {
    const { text } = this;
    const start = endOfBlanks(text, this.pos);
    const quote = text.startsWith('@"', start) ? start + 1 : start;
    if (text[quote] === '"') {
      this.pos = endOfString(text, quote);
      return text.slice(start, this.pos);
    }
    TOKEN.lastIndex = start;
    const token = TOKEN.exec(text)?.[0] ?? '';
    this.pos = start + token.length;
    return token;
  }

  /** The next token, which is read again. */
  peek(): string {
    const { pos } = this;
    const token = this.next();
    this.pos = pos;
    return token;
  }

  /** Steps over a region or dictionary whose `{` has been read. */
  skipBraces(): void {
    for (let depth = 1; depth > 0;) {
      const token = this.next();
      if (token === '') return;
      if (token === '{') depth++;
      else if (token === '}') depth--;
    }
  }

  /**
   * The tokens up to one of `stops` or a closing bracket, outside of brackets; that one is left. Angles are brackets,
   * except where they cannot be: a comparison inside of others.
   */
  until(...stops: readonly string[]): string[] {
    const tokens: string[] = [];
    const open: string[] = [];
    for (;;) {
      const token = this.peek();
      if (token === '' || (open.length === 0 && stops.includes(token))) return tokens;
      if (OPENING.has(token)) open.push(token);
      else if (token === '>') {
        if (open.length === 0) return tokens;
        if (open.at(-1) === '<') open.pop();
      } else if (CLOSING.has(token)) {
        while (open.at(-1) === '<') open.pop();
        if (open.pop() === undefined) return tokens;
      }
      tokens.push(this.next());
    }
  }
}

const OPENING = new Set(['(', '[', '{', '<']);
const CLOSING = new Set([')', ']', '}']);

/** The offset after a string that starts at `quote`; strings end on their line. */
function endOfString(text: string, quote: number): number {
  const ends = /["\\\n]/g;
  ends.lastIndex = quote + 1;
  for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
    if (end[0] !== '\\') return end[0] === '"' ? end.index + 1 : end.index;
    ends.lastIndex = end.index + 2;
  }
  return text.length;
}

/** The offset of the first character from `pos` on that is neither blank nor in a comment. */
function endOfBlanks(text: string, pos: number): number {
  for (let end = pos; ;) {
    while (BLANKS.has(text[end]!)) end++;
    if (!text.startsWith('//', end)) return end;
    const newline = text.indexOf('\n', end);
    if (newline < 0) return text.length;
    end = newline;
  }
}

const BLANKS = new Set([' ', '\t', '\r', '\n']);
