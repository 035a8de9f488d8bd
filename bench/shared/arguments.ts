// Command lines of the benchmarks: node:util's parser, with errors that say what to do instead.
import { accessSync, constants, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CompilerNotFoundError } from '../../src/compiler/find.ts';

/** The command line cannot be understood; the message names the argument and the way out. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The benchmark cannot be run here; the message says what is missing. */
export class BenchError extends Error {
  override readonly name = 'BenchError';
}

export interface Arguments {
  /** The text given for an option; undefined when it was not given. */
  readonly options: Readonly<Record<string, string | undefined>>;
  /** Everything given for each option that may be given more than once; commas separate values, too. */
  readonly lists: Readonly<Record<string, readonly string[] | undefined>>;
  /** Options without a value that were given. */
  readonly switches: ReadonlySet<string>;
  readonly positionals: readonly string[];
}

/** Options beside those that take one value. */
interface MoreOptions {
  readonly lists?: readonly string[];
  readonly switches?: readonly string[];
}

/**
 * Reads options, which take a value each. `--help` prints `usage` and ends the process.
 * @param more options that may be given more than once, and such without a value
 * @throws UsageError for an option that is none of these
 */
export function readArguments(
  names: readonly string[],
  usage: string,
  argv = process.argv.slice(2),
  { lists = [], switches = [] }: MoreOptions = {},
): Arguments {
  const all = [...names, ...lists, ...switches].map((name) => `--${name}`);
  const takes = `it takes ${all.join(', ')}; --help says more`;
  let options: Record<string, string | boolean | (string | boolean)[] | undefined>;
  let positionals: readonly string[];
  try {
    ({ values: options, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        ...Object.fromEntries(['help', ...switches].map((name) => [name, { type: 'boolean' as const }])),
        ...Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
        ...Object.fromEntries(lists.map((name) => [name, { type: 'string' as const, multiple: true }])),
      },
    }));
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split(/[.\n]/);
    throw new UsageError(`${reason!}: ${takes}`, { cause: error });
  }
  if (options['help'] === true) {
    console.log(usage);
    process.exit(0);
  }
  const texts = Object.entries(options).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const given = Object.entries(options).flatMap(([name, value]) =>
    Array.isArray(value) ? [[name, value.flatMap((text) => String(text).split(','))] as const] : [],
  );
  return {
    options: Object.fromEntries(texts),
    lists: Object.fromEntries(given),
    switches: new Set(switches.filter((name) => options[name] === true)),
    positionals,
  };
}

/** A whole number from `least` up; `fallback` when the option was not given. */
export function wholeNumber({ options }: Arguments, name: string, fallback: number, least = 1): number {
  const text = options[name];
  if (text === undefined) return fallback;
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text)) && Number(text) >= least) return Number(text);
  throw new UsageError(
    `--${name} ${text}: it takes a whole number from ${least} up, such as --${name} ${fallback}`,
  );
}

/** A number of seconds above zero; `fallback` when the option was not given. */
export function secondsOption({ options }: Arguments, name: string, fallback: number): number {
  const text = options[name];
  if (text === undefined) return fallback;
  const seconds = Number(text);
  if (text.trim() !== '' && Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new UsageError(`--${name} ${text}: it takes seconds, more than 0, such as --${name} ${fallback}`);
}

/** Where `--json` goes; looked at before the work, so that nobody waits for results that cannot be written. */
export function jsonFile({ options }: Arguments): string | undefined {
  const text = options['json'];
  if (text === undefined) return undefined;
  if (text === '') throw new UsageError('--json: it takes the path of a file');
  try {
    accessSync(dirname(resolve(text)), constants.W_OK);
  } catch (error) {
    throw new UsageError(`--json ${text}: there is no folder ${dirname(text)} to write to: make it first`, {
      cause: error,
    });
  }
  return text;
}

export function writeJson(file: string | undefined, results: unknown): void {
  if (file === undefined) return;
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  say(`${file} holds the raw values.`);
}

/** Progress and remarks: on stderr, so that the table alone is on stdout. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** `1 round`, `7 rounds`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;

/** Runs a benchmark: exit code 2 for a bad command line, 1 when it cannot be run. */
export async function run(name: string, main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    const isExpected =
      error instanceof UsageError || error instanceof BenchError || error instanceof CompilerNotFoundError;
    if (!isExpected) throw error;
    say(`${name}: ${error.message}`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
