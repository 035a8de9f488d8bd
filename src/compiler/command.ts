// The command that the user gave, as the compiler reads it, and the same turned into questions of ours.
import { isText } from '../system/undecoded.ts';
import { readArguments, type CompilerArguments } from './arguments.ts';
import type { FoundCompiler } from './find.ts';
import { writingOf } from './flag-roles.ts';
import { loadOptionTable } from './options.ts';
import { readResponseFile } from './response-file.ts';
import { expandResponseFiles } from './response.ts';

/** The command that the user gave, and the compiler that it is for. */
export interface Command {
  readonly compiler: FoundCompiler;
  /** As given, without our own flags. */
  readonly argv: readonly string[];
  /** The same with response files expanded; indices in `arguments` refer to it. */
  readonly expanded: readonly string[];
  readonly arguments: CompilerArguments;
  /** Present where the program is compiled in other forms than it is written in; `argv` does not have it. */
  readonly rewriting?: Rewriting;
}

/** A command that is run, but for where its output goes. */
export interface Compile {
  readonly argv: readonly string[];
  readonly stdin: Uint8Array | undefined;
}

/** How a program is rewritten before the compiler optimises anything. */
export interface Rewriting {
  /** In the syntax of pass pipelines. */
  readonly pass: string;
  /** The file that the pass reads. */
  readonly path: string;
}

/** Passes that run on the program before all others. */
export const passesOf = ({ rewriting }: Pick<Command, 'rewriting'>): readonly string[] =>
  rewriting === undefined ? [] : [rewriting.pass];

/** Reads a command line, asking the compiler once which flags it has. */
export async function readCommand(
  argv: readonly string[],
  compiler: FoundCompiler,
  cacheDirectory: string,
): Promise<Command> {
  const expansion = expandResponseFiles(argv, readResponseFile);
  const table = await loadOptionTable(compiler.executable, cacheDirectory);
  const args = readArguments(expansion.argv, table);
  return {
    compiler,
    argv,
    expanded: expansion.argv,
    arguments: {
      ...args,
      unclear: argv.every(isText) ? (expansion.problem ?? args.unclear) : 'an argument is not UTF-8',
    },
  };
}

const FLAG = /^--?([^=]+)(=?)/;

/**
 * The user's command with more flags, for our own compiles. Flags that write files are dropped. New flags go before `--`, because
 * arguments after it are positional.
 */
export function withTrailingFlags(argv: readonly string[], flags: readonly string[]): string[] {
  // Response files may hold such flags, too.
  const all = expandResponseFiles(argv, readResponseFile).argv;
  const end = all.includes('--') ? all.indexOf('--') : all.length;
  const own: string[] = [];
  for (let i = 0; i < end; i++) {
    const [, name, equals] = FLAG.exec(all[i]!) ?? [];
    const writing = name === undefined ? null : writingOf(name);
    if (writing === null) own.push(all[i]!);
    else if (writing === 'with a value' && equals === '') i++;
  }
  return [...own, ...flags, ...all.slice(end)];
}
