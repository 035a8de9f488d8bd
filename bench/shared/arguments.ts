// Command lines of the benchmarks: node:util's parser, with errors that name valid arguments.
import { accessSync, constants, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CompilerNotFoundError } from '../../src/compiler/find.ts';

/** An invalid command line. The message names the argument and the way out. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The benchmark cannot run here. The message names the missing part. */
export class BenchError extends Error {
  override readonly name = 'BenchError';
}

export interface Arguments {
  /** Values of options with one value. */
  readonly options: Readonly<Record<string, string | undefined>>;
  /** Values of repeatable options. Commas also separate values. */
  readonly lists: Readonly<Record<string, readonly string[] | undefined>>;
  /** Given options without a value. */
  readonly switches: ReadonlySet<string>;
  readonly positionals: readonly string[];
}

interface MoreOptions {
  readonly lists?: readonly string[];
  readonly switches?: readonly string[];
}

/**
 * Reads a command line. `--help` prints `usage` and ends the process.
 * @param names of options with one value
 * @param more names of repeatable options (`lists`), and of options without a value (`switches`)
 * @throws UsageError for any other option
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

/** @throws UsageError when the command line has more than options */
export function refusePositionals({ positionals: [first] }: Arguments): void {
  if (first !== undefined) throw new UsageError(`${first}: it takes options only; --help lists them`);
}

/** Reads an integer option. @throws UsageError for a value below `least` */
export function wholeNumber({ options }: Arguments, name: string, fallback: number, least = 1): number {
  const text = options[name];
  if (text === undefined) return fallback;
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text)) && Number(text) >= least) return Number(text);
  throw new UsageError(
    `--${name} ${text}: it takes a whole number from ${least} up, such as --${name} ${fallback}`,
  );
}

/** Reads an option of seconds. @throws UsageError for a value that is not above 0 */
export function secondsOption({ options }: Arguments, name: string, fallback: number): number {
  const text = options[name];
  if (text === undefined) return fallback;
  const seconds = Number(text);
  if (text.trim() !== '' && Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new UsageError(`--${name} ${text}: it takes seconds, more than 0, such as --${name} ${fallback}`);
}

/** Reads `--json`, and checks its folder before the work begins. @throws UsageError for a folder that cannot be written */
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
  say(`${file} has the raw values.`);
}

/** Prints progress to stderr, so that stdout has only the table. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** `1 round`, `7 rounds`. */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;

/** Runs a benchmark. The exit code is 2 for a bad command line, and 1 if the benchmark cannot run. */
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
