// `@file` arguments: the file's text stands for more arguments. The compiler expands them itself; this is only
// to know what it will see. Pure: reading a file is passed in.

/** What reading the file of an `@file` argument gives; paths are relative to the working directory, also nested. */
export type ResponseFile =
  | {
      readonly kind: 'text';
      readonly text: string;
      /** Equal for two names of one file. */ readonly id: string;
    }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly reason: string };

export interface ExpandedArguments {
  readonly argv: readonly string[];
  /** Whether there was anything to expand: if not, `argv` is the original. */
  readonly expanded: boolean;
  /** Why the compiler will refuse these arguments; `null` when they are fine. */
  readonly problem: string | null;
}

/** More arguments than any command line holds: files that name each other many times over grow without a circle. */
const mostArguments = 100_000;

/**
 * Expands `@file` as LLVM does: everywhere, even after `--` and in place of a flag's value; nested, and still
 * relative to the working directory. One that does not exist stays as it is. A directory or a file that
 * contains itself is an error there, and a `problem` here; so is what compilers read differently.
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

  /** Adds what the argument stands for; `inside` are the files that it was found in. */
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
      // 3.13 keeps an empty argument, 3.11 drops it: a rare thing is not worth knowing which.
      if (tokens.includes('')) this.problem = `${argument} holds an empty argument`;
      for (const token of tokens) this.add(token, [...inside, file.id]);
    }
  }
}

/**
 * Splits a text into arguments by GNU rules: white space separates; `'` and `"` quote, and are alike; a
 * backslash takes the next character as it is, inside quotes too.
 */
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
  // The compiler's arguments end at a zero byte wherever it stands.
  return tokens.map((each) => each.split('\0', 1)[0]!);
}

/** Writes one argument so that {@link splitArguments} and the compiler read it back. */
export function quoteArgument(argument: string): string {
  if (/^[\w./:=,+@%-]+$/.test(argument)) return argument;
  return `"${argument.replace(/[\\"]/g, '\\$&')}"`;
}
