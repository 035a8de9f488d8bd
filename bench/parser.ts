// Speed and memory of the parser on dense text, blobs, more than 2 GiB, and adversarial texts.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { median } from '../src/measure/statistics.ts';
import { table } from '../src/report/table.ts';
import {
  BenchError,
  jsonFile,
  readArguments,
  run,
  say,
  UsageError,
  wholeNumber,
  writeJson,
} from './shared/arguments.ts';
import type { ParserRun } from './shared/parser-child.ts';
import { hugeStarts, repeated, worstTexts, writeBlob } from './shared/parser-inputs.ts';
import { aboutRun, root, temporaryFolder } from './shared/workplace.ts';

const USAGE = `usage: npm run bench:parser -- [--rounds N] [--huge yes|no] [--json FILE] [FILES...]

  FILES     programs, repeated up to 6 MB (default: the examples)
  --rounds  passes over each text after the first one (default 15)
  --huge    whether to parse 2.2 GiB too (default: if there is enough memory)
  --json    also write all values to FILE`;

const DENSE_BYTES = 6e6;
const BLOB_BYTES = 2 ** 30;
const HUGE_BYTES = Math.ceil(2.2 * 2 ** 30);
const WORST_BYTES = 2 ** 20;
/** Memory for the huge input, and 1 GiB more. */
const HUGE_MEMORY = HUGE_BYTES + 2 ** 30;

/** Goals on one core: MB/s for dense text and for blobs, and peak memory beyond the input in MB. */
const GOALS = { dense: 100, blob: 1500, beyondMB: 200 };

interface Case {
  readonly kind: 'dense' | 'blob' | 'huge' | 'worst';
  readonly name: string;
  readonly rounds: number;
  /** Arguments of the child process. */
  readonly argv: readonly string[];
}

type Result = Case & ParserRun;

const execute = promisify(execFile);

async function main(): Promise<void> {
  const args = readArguments(['rounds', 'huge', 'json'], USAGE);
  const rounds = wholeNumber(args, 'rounds', 15);
  const json = jsonFile(args);
  const huge = args.options['huge'] ?? (freemem() > HUGE_MEMORY ? 'yes' : 'no');
  if (huge !== 'yes' && huge !== 'no') throw new UsageError(`--huge ${huge}: it takes yes or no`);
  for (const file of args.positionals)
    if (!existsSync(file)) throw new UsageError(`${file}: there is no such file`);

  const about = aboutRun('parser', 'local-sync', {});
  const folder = temporaryFolder();
  const results: Result[] = [];
  for (const one of listCases(folder, args.positionals, rounds, huge === 'yes')) {
    say(`Parsing ${one.name} ...`);
    results.push(await measure(one));
  }

  console.log(
    `Node ${process.version}. Each row is a separate process. "first" is its first pass, "warm" is the median of the others. ` +
      '"beyond" is the peak of resident memory in the first pass, without the input but with Node.\n',
  );
  console.log(report(results));
  console.log(`\n${verdicts(results).join('\n')}`);
  writeJson(json, {
    ...{ ...about, options: { rounds, huge }, goals: GOALS },
    results: results.map((result) => ({ ...result, argv: undefined })),
  });
}

function listCases(folder: string, files: readonly string[], rounds: number, huge: boolean): Case[] {
  const cases: Case[] = [];
  const add = (kind: Case['kind'], name: string, ownRounds: number, text: string | null): string => {
    const file = join(folder, `${cases.length}.mlir`);
    if (text !== null) writeFileSync(file, text);
    cases.push({ kind, name, rounds: ownRounds, argv: [file, String(ownRounds)] });
    return file;
  };
  if (files.length === 0) add('dense', 'examples', rounds, repeated(examples(), DENSE_BYTES));
  for (const file of files)
    add('dense', basename(file), rounds, repeated(readFileSync(file, 'utf8'), DENSE_BYTES));
  const blob = add('blob', 'a resource of 1 GiB', Math.min(rounds, 3), null);
  writeBlob(blob, BLOB_BYTES);
  const hugeArgv = ['--huge', String(HUGE_BYTES)];
  if (huge) cases.push({ kind: 'huge', name: 'a resource of 2.2 GiB', rounds: 0, argv: hugeArgv });
  else say('2.2 GiB are left out: --huge yes includes them.');
  for (const [name, text] of worstTexts(WORST_BYTES)) add('worst', name, Math.min(rounds, 5), text);
  return cases;
}

function examples(): string {
  const folder = join(root, 'examples');
  const files = readdirSync(folder).filter((name) => name.endsWith('.mlir'));
  return files
    .sort()
    .map((name, index) =>
      readFileSync(join(folder, name), 'utf8').replaceAll(/@[\w.]+/g, (symbol) => `${symbol}_${index}`),
    )
    .join('\n');
}

/** @throws BenchError when the process fails */
async function measure(one: Case): Promise<Result> {
  const child = join(import.meta.dirname, 'shared/parser-child.ts');
  const { stdout } = await execute(process.execPath, ['--conditions=source', child, ...one.argv]).catch(
    (error: unknown) => {
      throw new BenchError(`${one.name}: the parser failed: ${String(error)}`);
    },
  );
  return { ...one, ...(JSON.parse(stdout) as ParserRun) };
}

/** A message about wrong offsets of the operations; null for correct offsets. */
function misplaced({ kind, operations, starts }: Result): string | null {
  const expected = kind === 'huge' ? hugeStarts(HUGE_BYTES) : hugeStarts(BLOB_BYTES).slice(0, 1);
  if (operations === expected.length && starts.join() === expected.join()) return null;
  return `operations at ${starts.join(' and ') || 'no offset'}, not at ${expected.join(' and ')}`;
}

const speed = (bytes: number, milliseconds: number): number => bytes / 1e3 / milliseconds;
const beyond = ({ bytes, rssPeak }: Result): number => (rssPeak - bytes) / 1e6;
const warm = ({ bytes, warmMs }: Result): number | null =>
  warmMs.length === 0 ? null : speed(bytes, median(warmMs));

function report(results: readonly Result[]): string {
  return table(
    ['input', 'MB', 'operations', 'problems', 'first ms', 'first MB/s', 'warm MB/s', 'beyond MB'],
    results.map((result) => [
      result.name,
      (result.bytes / 1e6).toFixed(1),
      String(result.operations),
      String(result.problems),
      result.coldMs.toFixed(1),
      speed(result.bytes, result.coldMs).toFixed(0),
      warm(result)?.toFixed(0) ?? '-',
      result.kind === 'worst' ? '-' : beyond(result).toFixed(0),
    ]),
  );
}

function verdicts(results: readonly Result[]): string[] {
  const verdict = (reached: boolean, what: string): string => `${reached ? 'reached' : 'MISSED'}: ${what}`;
  return results.flatMap((result) => {
    const { kind, name } = result;
    const fast = warm(result) ?? speed(result.bytes, result.coldMs);
    const speedVerdict = (goal: number): string =>
      verdict(fast >= goal, `${name}: ${fast.toFixed(0)} MB/s, goal ${goal} or more`);
    if (kind === 'worst') return [];
    if (kind === 'dense') return [speedVerdict(GOALS.dense)];
    const extra = beyond(result);
    const wrong = misplaced(result);
    return [
      speedVerdict(GOALS.blob),
      verdict(
        extra < GOALS.beyondMB,
        `${name}: ${extra.toFixed(0)} MB beyond the input, goal below ${GOALS.beyondMB}`,
      ),
      verdict(wrong === null, `${name}: ${wrong ?? `operations at ${result.locations.join(' and ')}`}`),
    ];
  });
}

await run('bench:parser', main);
