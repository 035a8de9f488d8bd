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
  /** The arguments as given if there is a problem. */
  readonly argv: readonly string[];
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
  if (!argv.some((argument) => argument.startsWith('@'))) return { argv, problem: null };
  const expanded: string[] = [];
  /** Adds an argument or its expansion. Returns its problem. `inside` has the ids of the files around it. */
  const add = (argument: string, inside: readonly string[]): string | null => {
    const file = argument.startsWith('@') ? readFile(argument.slice(1)) : null;
    if (file === null || file.kind === 'missing')
      return expanded.push(argument) > mostArguments ? 'too many arguments' : null;
    if (file.kind === 'unreadable') return `${argument}: ${file.reason}`;
    if (inside.includes(file.id)) return `${argument} contains itself`;
    const tokens = splitArguments(file.text);
    // 3.13 keeps an empty argument, and 3.11 drops it.
    if (tokens.includes('')) return `${argument} holds an empty argument`;
    return addAll(tokens, [...inside, file.id]);
  };
  /** Returns the first problem. */
  const addAll = (all: readonly string[], inside: readonly string[]): string | null => {
    for (const argument of all) {
      const problem = add(argument, inside);
      if (problem !== null) return problem;
    }
    return null;
  };
  const problem = addAll(argv, []);
  return { argv: problem === null ? expanded : argv, problem };
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
