// The compiler's flags, and whether each takes the next argument as its value. In `--compile-to input model.mlir` this decides which
// argument is the input.
import { compilerIdentity } from './identity.ts';
import { OPTION_TABLES } from '../system/cache.ts';
import { hasFields, isText } from '../system/data.ts';
import { memoryOf } from '../system/memory.ts';
import { askCompiler } from './ask.ts';

/**
 * `flag` never takes the next argument; its value may follow `=`. `value` and `choice` take it if there is no `=`. The values of a `choice`
 * are listed.
 */
export type FlagKind = 'flag' | 'value' | 'choice';

/** Kind of a flag by its name without dashes; undefined if unknown. */
export type OptionTable = (name: string) => FlagKind | undefined;

/** Names of flags without dashes, by kind. `choices` are in one of the other sets, too. */
interface Names {
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlySet<string>;
  readonly choices: ReadonlySet<string>;
}

/** The table of a compiler, asked once, then cached. Never rejects: after a failure the table is empty. */
export async function loadOptionTable(executable: string, cacheDirectory: string): Promise<OptionTable> {
  const identity = compilerIdentity(executable);
  const known = tableMemory.recall(cacheDirectory, identity);
  if (known !== null)
    return tableOf(known.flags.split(' '), known.values.split(' '), known.choices.split(' '));
  const asked = await askForFlags(executable).catch(() => null);
  if (asked === null) return tableOf([], []);
  const { flags, values, choices } = asked;
  // JSON parses long strings several times faster than long arrays.
  const text = (names: ReadonlySet<string>) => [...names].join(' ');
  if (values.size > 0)
    tableMemory.remember(cacheDirectory, {
      identity,
      flags: text(flags),
      values: text(values),
      choices: text(choices),
    });
  return tableOf(flags, values, choices);
}

/** A table from names without dashes. */
export function tableOf(
  flags: Iterable<string>,
  values: Iterable<string>,
  choices: Iterable<string> = [],
): OptionTable {
  const [flagSet, valueSet, choiceSet] = [new Set(flags), new Set(values), new Set(choices)];
  return (name) => {
    if (!valueSet.has(name)) return flagSet.has(name) ? 'flag' : undefined;
    return choiceSet.has(name) ? 'choice' : 'value';
  };
}

/**
 * Parses the output of `--help-hidden`, in which LLVM prints
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
 * Three forms are `uncertain`: some `--choice=<value>` and every `--pass=<pass-arg>` may also lack the value, and an alias prints no form.
 * Only a probe of the compiler tells their kind.
 */
export function parseHelp(text: string) {
  const flags = new Set<string>();
  const values = new Set<string>();
  const uncertain = new Set<string>();
  const choices = new Set<string>();
  let last = '';
  for (const line of text.split('\n')) {
    if (/^ {4,}=\S/.test(line)) choices.add(last);
    const match = /^ {2}(?: {4})?(--?)([\w.-]+)(\[?=| <)?(<value>|<pass-arg>)?/.exec(line);
    if (!match) continue;
    const [, dashes, name = '', separator, anyValue] = match;
    // Only letters have one dash. A longer name with one dash has its own format (-debug-counter).
    if (dashes === '-' && name.length > 1) continue;
    last = name;
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
  return { flags, values, uncertain, choices };
}

/** Flags that print a text and end the process before it reads an input. */
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

async function askForFlags(executable: string): Promise<Names> {
  const ask = (argv: readonly string[]) => askCompiler(executable, argv, { env: process.env });
  const { uncertain, ...known } = parseHelp((await ask(['--help-hidden'])).stdout.toString());
  if (uncertain.size === 0) return known;
  // A probe, an unknown flag, follows each uncertain flag. The compiler reports all probes that no flag took as its value, in one run of
  // 15 ms, and then ends.
  const free = unclaimedProbes((await ask(probeArguments([...uncertain]))).stderr.toString());
  // Without the last probe the run ended early.
  if (!free.has(uncertain.size)) return known;
  [...uncertain].forEach((name, index) => (free.has(index) ? known.flags : known.values).add(name));
  return known;
}

/** `--flag --probe-0 ...`, and a last probe that no flag can take, to detect an early end. */
export function probeArguments(names: readonly string[]): string[] {
  const pairs = names.flatMap((name, index) => [
    `${name.length === 1 ? '-' : '--'}${name}`,
    probeName(index),
  ]);
  return [...pairs, probeName(names.length)];
}

/** Numbers of the probes that the compiler reported. */
export function unclaimedProbes(stderr: string): Set<number> {
  const matches = stderr.matchAll(/Unknown command line argument '--iree-tuned-probe-(\d+)'/g);
  return new Set(Array.from(matches, (match) => Number(match[1])));
}

function probeName(index: number): string {
  return `--iree-tuned-probe-${index}`;
}

/** Names with blanks between them. */
interface CachedTable {
  readonly identity: string;
  readonly flags: string;
  readonly values: string;
  readonly choices: string;
}

const isCachedTable = hasFields<CachedTable>({
  ...{ identity: isText, flags: isText, values: isText, choices: isText },
});
const tableMemory = memoryOf(OPTION_TABLES, isCachedTable, { outlivesBuild: true });
