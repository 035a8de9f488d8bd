// Parses iree-compile's command line like LLVM's library. Pure: the caller passes the table of flags. An ambiguous command line is
// `unclear`, and the caller passes it through.
import { informationalFlags, type FlagKind, type OptionTable } from './options.ts';

export interface Flag {
  /** Without dashes. */
  readonly name: string;
  /** Null without a value, as for `--flag`. */
  readonly value: string | null;
  /** Undefined for an unknown flag. */
  readonly kind: FlagKind | undefined;
  /** First argument of the flag; `end` is one past the last. */
  readonly index: number;
  readonly end: number;
}

export type CompilerInput =
  | { readonly kind: 'file'; readonly path: string; readonly index: number }
  | { readonly kind: 'stdin'; readonly index: number };

export type CompilerOutput = { readonly kind: 'file'; readonly path: string } | { readonly kind: 'stdout' };

export interface CompilerArguments {
  readonly input: CompilerInput | null;
  readonly output: CompilerOutput;
  /** In order. */
  readonly flags: readonly Flag[];
  /** Whether the command only prints a text, as for `--version`. */
  readonly informational: boolean;
  /** Why the command is ambiguous or invalid; null if it is clear. */
  readonly unclear: string | null;
}

/** Parses the arguments after the program's name. The caller has expanded response files. */
export function readArguments(argv: readonly string[], table: OptionTable): CompilerArguments {
  const flags: Flag[] = [];
  const positionals: { text: string; index: number }[] = [];
  let unclear: string | null = null;
  for (let index = 0; index < argv.length; index++) {
    const text = argv[index]!;
    if (text === '--') {
      while (++index < argv.length) positionals.push({ text: argv[index]!, index });
      break;
    }
    if (!text.startsWith('-') || text === '-') {
      positionals.push({ text, index });
      continue;
    }
    const read = readFlag(argv, index, table);
    flags.push(read.flag);
    unclear ??= read.unclear;
    index = read.flag.end - 1;
  }
  const informational = flags.some((flag) => informationalFlags.has(flag.name) && isOn(flag));
  if (!informational) unclear ??= positionalProblem(positionals.map((positional) => positional.text));
  const output = lastOf(flags, 'o')?.value ?? '-';
  if (output === '') unclear ??= 'the output file has no name';
  return {
    input: positionals.length === 1 ? inputOf(positionals[0]!) : null,
    output: output === '-' ? { kind: 'stdout' } : { kind: 'file', path: output },
    flags,
    informational,
    unclear,
  };
}

/** The last value of a flag, which wins; null without the flag or a value. */
export function lastValue(args: CompilerArguments, name: string): string | null {
  return lastOf(args.flags, name)?.value ?? null;
}

/** Whether a boolean flag is on. The last of `--flag`, `--flag=true` and `--flag=false` wins. */
export function flagIsOn(args: CompilerArguments, name: string, byDefault = false): boolean {
  const flag = lastOf(args.flags, name);
  return flag === undefined ? byDefault : isOn(flag);
}

export function hasFlag(args: CompilerArguments, name: string): boolean {
  return args.flags.some((flag) => flag.name === name);
}

function readFlag(
  argv: readonly string[],
  index: number,
  table: OptionTable,
): { flag: Flag; unclear: string | null } {
  const text = argv[index]!;
  // One or two dashes are equivalent. A third is part of the name.
  const body = text.slice(text.startsWith('--') ? 2 : 1);
  const equals = body.indexOf('=');
  const name = equals < 0 ? body : body.slice(0, equals);
  const kind = table(name);
  const value = equals < 0 ? null : body.slice(equals + 1);
  const alone: Flag = { name, value, kind, index, end: index + 1 };
  if (value !== null || kind === 'flag') return { flag: alone, unclear: null };
  const next = argv[index + 1];
  if (kind === undefined) {
    // A last argument is clear, because it can take no value.
    const unclear = next === undefined ? null : `${text} is unknown and may take ${next} as its value`;
    return { flag: alone, unclear };
  }
  if (next === undefined) return { flag: alone, unclear: `${text} has no value` };
  return { flag: { ...alone, value: next, end: index + 2 }, unclear: null };
}

function positionalProblem(positionals: readonly string[]): string | null {
  if (positionals.length === 0) return 'no input file';
  if (positionals.length > 1) return `more than one input file: ${positionals.join(', ')}`;
  return positionals[0] === '' ? 'the input file has no name' : null;
}

function inputOf({ text, index }: { text: string; index: number }): CompilerInput {
  return text === '-' ? { kind: 'stdin', index } : { kind: 'file', path: text, index };
}

function lastOf(flags: readonly Flag[], name: string): Flag | undefined {
  return flags.findLast((flag) => flag.name === name);
}

function isOn(flag: Flag): boolean {
  // Newer compilers accept only true and 1. Older ones accept all these spellings, and reject others.
  return flag.value === null || ['true', 'TRUE', 'True', '1', ''].includes(flag.value);
}
