// Expands `@file` arguments, as the compiler does itself, to know its arguments. Pure: the caller passes the reader of files.

/** Result of reading a response file. Paths are relative to the working directory, even in nested files. */
export type ResponseFile =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** Equal for two names of one file. */
      readonly id: string;
    }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly reason: string };

export interface ExpandedArguments {
  readonly argv: readonly string[];
  /** Whether any argument was expanded. */
  readonly expanded: boolean;
  /** Why the compiler rejects the arguments; null if it accepts them. */
  readonly problem: string | null;
}

/** Limit of arguments, because nested files can multiply without a cycle. */
const mostArguments = 100_000;

/**
 * Expands `@file` like LLVM: everywhere, even after `--` or as a flag's value, and nested. A missing file stays an argument. A folder, and
 * a file that contains itself, is a `problem`. So is a text that releases read differently.
 */
export function expandResponseFiles(
  argv: readonly string[],
  readFile: (path: string) => ResponseFile,
): ExpandedArguments {
  if (!argv.some((argument) => argument.startsWith('@'))) return { argv, expanded: false, problem: null };
  const expansion = new Expansion(readFile);
  for (const argument of argv) expansion.add(argument, []);
  const { result, expanded, problem } = expansion;
  return problem === null ? { argv: result, expanded, problem } : { argv, expanded: false, problem };
}

class Expansion {
  readonly result: string[] = [];
  expanded = false;
  problem: string | null = null;
  readonly #readFile: (path: string) => ResponseFile;

  constructor(readFile: (path: string) => ResponseFile) {
    this.#readFile = readFile;
  }

  /** Adds an argument or its expansion. `inside` has the ids of the files around it. */
  add(argument: string, inside: readonly string[]): void {
    if (this.problem !== null) return;
    const file = argument.startsWith('@') ? this.#readFile(argument.slice(1)) : null;
    if (file === null || file.kind === 'missing') {
      this.result.push(argument);
      if (this.result.length > mostArguments) this.problem = 'too many arguments';
    } else if (file.kind === 'unreadable') {
      this.problem = `${argument}: ${file.reason}`;
    } else if (inside.includes(file.id)) {
      this.problem = `${argument} contains itself`;
    } else {
      this.expanded = true;
      const tokens = splitArguments(file.text);
      // 3.13 keeps an empty argument, and 3.11 drops it.
      if (tokens.includes('')) this.problem = `${argument} holds an empty argument`;
      for (const token of tokens) this.add(token, [...inside, file.id]);
    }
  }
}

/** Splits a text by GNU rules: white space separates, `'` and `"` quote, a backslash escapes any character, even in quotes. */
export function splitArguments(text: string): string[] {
  const tokens: string[] = [];
  let token: string | null = null;
  let quote: string | null = null;
  for (let i = text.startsWith('\ufeff') ? 1 : 0; i < text.length; i++) {
    const character = text[i]!;
    if (character === '\\' && i + 1 < text.length) {
      token = (token ?? '') + text[++i]!;
    } else if (quote !== null) {
      if (character === quote) quote = null;
      else token = (token ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      token ??= '';
    } else if (' \t\r\n'.includes(character)) {
      if (token !== null) tokens.push(token);
      token = null;
    } else {
      token = (token ?? '') + character;
    }
  }
  if (token !== null) tokens.push(token);
  // The compiler cuts an argument at a zero byte.
  return tokens.map((each) => each.split('\0', 1)[0]!);
}

/** Quotes one argument for {@link splitArguments} and the compiler. */
export function quoteArgument(argument: string): string {
  if (/^[\w./:=,+@%-]+$/.test(argument)) return argument;
  return `"${argument.replace(/[\\"]/g, '\\$&')}"`;
}
