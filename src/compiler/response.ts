// Expands `@file` arguments, as the compiler does itself, to know its arguments.
import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { because, isReason, type Reason } from '../system/reason.ts';

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
 * @param directory the working directory: paths are relative to it, even in nested files
 */
export function expandResponseFiles(argv: readonly string[], directory = process.cwd()): ExpandedArguments {
  if (!argv.some((argument) => argument.startsWith('@'))) return { argv, problem: null };
  const expanded: string[] = [];
  /** Adds an argument or its expansion. Returns its problem. `inside` has the ids of the files around it. */
  const add = (argument: string, inside: readonly string[]): string | null => {
    const file = argument.startsWith('@') ? readResponseFile(resolve(directory, argument.slice(1))) : null;
    if (file === null) return expanded.push(argument) > mostArguments ? 'too many arguments' : null;
    if (isReason(file)) return `${argument}: ${file.reason}`;
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

/** The text of a file, and an id that is equal for two names of it; null if it is missing. */
function readResponseFile(path: string): { text: string; id: string } | Reason | null {
  try {
    const stat = statSync(path, { bigint: true });
    if (stat.isDirectory()) return because('command-unclear', 'is a directory');
    // A read would take a pipe's bytes from the compiler.
    if (!stat.isFile()) return because('command-unclear', 'is not a regular file');
    const text = decode(readFileSync(path));
    return text === null
      ? because('command-unclear', 'is not UTF-8')
      : { text, id: `${stat.dev}:${stat.ino}` };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? null : because('command-unclear', message);
  }
}

/** UTF-8, or UTF-16 with a byte order mark. Null for invalid UTF-8, which the compiler accepts but a string cannot hold. */
function decode(bytes: Buffer): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.toString('utf16le');
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return Buffer.from(bytes.subarray(0, bytes.length & ~1))
      .swap16()
      .toString('utf16le');
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
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
