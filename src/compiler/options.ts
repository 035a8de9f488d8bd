// Which flags the compiler has, and which of them take the next argument as their value. Without that the
// input cannot be told from a flag's value: in `--compile-to input model.mlir` only one of the two is a file.
import { compilerIdentity } from './identity.ts';
import { OPTION_TABLES } from '../system/cache.ts';
import { hasFields, isText } from '../system/data.ts';
import { memoryOf } from '../system/memory.ts';
import { askCompiler } from './ask.ts';

/** `flag` never takes the next argument (a value, if any, follows `=`); `value` always does when there is no `=`. */
export type FlagKind = 'flag' | 'value';

export interface OptionTable {
  /** The kind of a flag, named without dashes; `undefined` for one that is unknown or cannot be told. */
  kindOf(name: string): FlagKind | undefined;
}

/** What `--help-hidden` says: flags whose form is certain, and those that only the compiler itself can settle. */
export interface HelpFlags {
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlySet<string>;
  readonly uncertain: ReadonlySet<string>;
}

/** The table of a compiler, asked once and then read from the cache. Never rejects: at worst the table is empty. */
export async function loadOptionTable(executable: string, cacheDirectory: string): Promise<OptionTable> {
  const identity = compilerIdentity(executable);
  const known = tableMemory.recall(cacheDirectory, identity);
  if (known !== null) return tableOf(known.flags.split(' '), known.values.split(' '));
  let asked: { flags: string[]; values: string[] };
  try {
    asked = await askForFlags(executable);
  } catch {
    return tableOf([], []);
  }
  if (asked.values.length > 0) {
    // Two long strings parse several times faster than two long arrays.
    tableMemory.remember(cacheDirectory, {
      identity,
      flags: asked.flags.join(' '),
      values: asked.values.join(' '),
    });
  }
  return tableOf(asked.flags, asked.values);
}

/** A table of these names, without dashes. */
export function tableOf(flags: Iterable<string>, values: Iterable<string>): OptionTable {
  const flagSet = new Set(flags);
  const valueSet = new Set(values);
  return {
    kindOf: (name) => (valueSet.has(name) ? 'value' : flagSet.has(name) ? 'flag' : undefined),
  };
}

/**
 * Reads the output of `--help-hidden`, in which LLVM prints
 *
 * ```
 *   --bool                      - a boolean: `--bool`, `--bool=false`
 *   --text=<string>             - takes a value: `--text=x`, `--text x`
 *   --optional[=<string>]       - takes one only with `=`
 *   --choice                    - printed twice when the value
 *   --choice=<value>            - may be left out: then only with `=`
 *     =one                      -   a value of the choice
 *       --literal               - a choice without a name: a plain flag
 *   -o <filename>
 * ```
 *
 * Three forms do not tell: the value of some `--choice=<value>`, and of every `--pass=<pass-arg>`, may be left out
 * without being printed twice, and an alias is printed bare whatever it stands for.
 */
export function parseHelp(text: string): HelpFlags {
  const flags = new Set<string>();
  const values = new Set<string>();
  const uncertain = new Set<string>();
  for (const line of text.split('\n')) {
    const match = /^ {2}(?: {4})?(--?)([\w.-]+)(\[?=| <)?(<value>|<pass-arg>)?/.exec(line);
    if (!match) continue;
    const [, dashes, name = '', separator, anyValue] = match;
    // Only letters have one dash; a longer name with one dash prints itself in its own way (-debug-counter).
    if (dashes === '-' && name.length > 1) continue;
    if (separator === undefined && /\balias for\b/i.test(line)) uncertain.add(name);
    else if (separator === undefined || separator === '[=') flags.add(name);
    else if (anyValue !== undefined) uncertain.add(name);
    else values.add(name);
  }
  for (const name of informationalFlags) {
    if (uncertain.delete(name)) flags.add(name);
  }
  for (const name of flags) {
    uncertain.delete(name);
    values.delete(name);
  }
  return { flags, values, uncertain };
}

/** Flags that print something and end the process before there is any input. */
export const informationalFlags: ReadonlySet<string> = new Set([
  'h',
  'help',
  'help-hidden',
  'help-list',
  'help-list-hidden',
  'version',
  'iree-hal-list-target-backends',
  'iree-list-plugins',
  'iree-llvmcpu-list-targets',
]);

async function askForFlags(executable: string): Promise<{ flags: string[]; values: string[] }> {
  const options = { env: process.env };
  const help = parseHelp((await askCompiler(executable, ['--help-hidden'], options)).stdout.toString());
  const flags = [...help.flags];
  const values = [...help.values];
  const uncertain = [...help.uncertain];
  if (uncertain.length === 0) return { flags, values };
  // Each uncertain flag is followed by a flag that does not exist. The compiler complains about all of those that
  // no flag before them has taken, in one run of 15 ms, and ends before doing anything.
  const probe = (await askCompiler(executable, probeArguments(uncertain), options)).stderr.toString();
  const free = unclaimedProbes(probe);
  if (!free.has(uncertain.length)) return { flags, values }; // it ended early: nothing is learnt
  uncertain.forEach((name, index) => (free.has(index) ? flags : values).push(name));
  return { flags, values };
}

/** `--flag --probe-0 ...` and one more probe, which nothing can take, to see that the end was reached. */
export function probeArguments(names: readonly string[]): string[] {
  const pairs = names.flatMap((name, index) => [
    `${name.length === 1 ? '-' : '--'}${name}`,
    probeName(index),
  ]);
  return [...pairs, probeName(names.length)];
}

/** The numbers of the probes that the compiler did not know. */
export function unclaimedProbes(stderr: string): Set<number> {
  const matches = stderr.matchAll(/Unknown command line argument '--iree-tuned-probe-(\d+)'/g);
  return new Set(Array.from(matches, (match) => Number(match[1])));
}

function probeName(index: number): string {
  return `--iree-tuned-probe-${index}`;
}

interface CachedTable {
  readonly identity: string;
  readonly flags: string;
  readonly values: string;
}

const isCachedTable = hasFields<CachedTable>({ identity: isText, flags: isText, values: isText });
const tableMemory = memoryOf(OPTION_TABLES, isCachedTable, { outlivesBuild: true });
