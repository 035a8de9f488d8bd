// The user's command as the compiler reads it, and the same with more flags for our own compiles.
import type { Reason } from '../system/reason.ts';
import { readArguments, type CompilerArguments } from './arguments.ts';
import { linkerVariables, stampsOfCompiler, stampsOfFlags, type CommandFiles } from './command-files.ts';
import type { FoundCompiler } from './find.ts';
import { writingOf } from './flag-roles.ts';
import { loadOptionTable } from './options.ts';
import { expandResponseFiles } from './response.ts';
import { whyUntouched } from './untouched.ts';
import type { Environment } from '../system/recursion.ts';

/** The user's command and its compiler. */
export interface Command {
  readonly compiler: FoundCompiler;
  /** The user's arguments, without the wrapper's flags. */
  readonly argv: readonly string[];
  /** `argv` with expanded response files. Indices in `arguments` refer to it. */
  readonly expanded: readonly string[];
  readonly arguments: CompilerArguments;
  /** States of the files that the compile depends on, before the compiler ran for this build. */
  readonly files: CommandFiles;
  /** Why the command cannot be tuned with any input; null if it can. */
  readonly whyUntouched: Reason | null;
  /** How the program is rewritten into other forms; absent for the original. Not part of `argv`. */
  readonly rewriting?: Rewriting;
}

/** The input as messages name it. */
export const inputName = ({ arguments: { input } }: Pick<Command, 'arguments'>): string =>
  input?.kind === 'file' ? input.path : '<stdin>';

/** A command to run, without its output. */
export interface Compile {
  readonly argv: readonly string[];
  readonly stdin: Uint8Array | undefined;
}

/** A rewriting of the program before any optimisation. */
export interface Rewriting {
  /** Whether operations have other forms. */
  readonly isFormed: boolean;
  /** Its parts, for keys of notes: the same on every machine. */
  readonly names: readonly string[];
  /** Passes that run before all others, in pipeline syntax. */
  readonly passes: readonly string[];
  /** Paths of the files that the passes and the compiler read. */
  readonly files: readonly string[];
  /** Path of a program after the phase `abi` in place of the user's input; absent if the compiler reads the user's input. */
  readonly input?: string;
}

/** Passes that run before all others. */
export const passesOf = ({ rewriting }: Pick<Command, 'rewriting'>): readonly string[] =>
  rewriting?.passes ?? [];

/** The bytes of an input. @param stdin all of them, if `bytes` leaves weights out */
interface InputBytes {
  readonly bytes: Uint8Array;
  readonly stdin?: Uint8Array;
}

/** The command as the user gave it. */
export const originalCompile = (
  { argv, arguments: { input } }: Command,
  { bytes, stdin = bytes }: InputBytes,
): Compile => ({ argv, stdin: input?.kind === 'stdin' ? stdin : undefined });

/** The command with the rewritten program as its input, if there is one. Passes are not included. */
export function rewrittenCompile(command: Command, input: InputBytes): Compile {
  const { expanded, arguments: args, rewriting } = command;
  if (rewriting?.input === undefined) return originalCompile(command, input);
  const argv = ['--compile-from=abi', ...expanded.with(args.input!.index, rewriting.input)];
  return { argv, stdin: undefined };
}

export interface CommandPlace {
  /** Environment of the compile. */
  readonly env: Environment;
  readonly cacheDirectory: string;
}

/** Parses a command line. Asks the compiler for its flags once. */
export async function readCommand(
  argv: readonly string[],
  compiler: FoundCompiler,
  { env, cacheDirectory }: CommandPlace,
): Promise<Command> {
  const ofCompiler = stampsOfCompiler(compiler.executable, env);
  const expansion = expandResponseFiles(argv);
  const table = await loadOptionTable(compiler.executable, cacheDirectory);
  const read = readArguments(expansion.argv, table);
  // An invalid byte is a lone surrogate: see `undecoded.ts`.
  const isUtf8 = argv.every((text) => text.isWellFormed());
  const unclear = isUtf8 ? (expansion.problem ?? read.unclear) : 'an argument is not UTF-8';
  const args = { ...read, unclear };
  const files = { variables: linkerVariables(env), ofCompiler, ofFlags: stampsOfFlags(args.flags) };
  return {
    compiler,
    argv,
    expanded: expansion.argv,
    arguments: args,
    files,
    whyUntouched: whyUntouched(args),
  };
}

/** The compiler's IR verifier takes a sixth to a third of the time, and does not change legal modules. */
export const NO_CHECKS = '--verify=false';

const FLAG = /^--?([^=]+)(=?)/;

/** The user's command with more flags, for our own compiles. Drops flags that write files. New flags go before `--`. */
export function withTrailingFlags(argv: readonly string[], flags: readonly string[]): string[] {
  // Response files may contain flags that write files.
  const all = expandResponseFiles(argv).argv;
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
