// Compares the parser with the compiler's own reader on every .mlir file below some folders:
//
//   CORPUS=folder[:folder...] node --conditions=source grammar/test/corpus.ts [--fuzz N] [--seed N] [FOLDER...]
//
// Exit code 1: they disagree, or the parser throws or takes too long. Exit code 2: nothing to compare.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  applyInsertions,
  insertionFor,
  locate,
  parse,
  type AffineMap,
  type Operation,
  type Problem,
  type Type,
} from '../src/main.ts';
import { examples } from './examples.ts';
import { customForm, quotedForm } from './fixtures.ts';
import { fuzz } from './fuzz.ts';
import { readPrint, squeeze, type Printed } from './generic-print.ts';
import { ireeOpt } from './oracle.ts';

/** Time limit of the parser for one text. */
export const LONGEST_MILLISECONDS = 1000;

/** Time limit of the compiler for one text. */
const ORACLE_MILLISECONDS = 60_000;

const PRINT = [
  '--allow-unregistered-dialect',
  '--mlir-print-op-generic',
  '--mlir-print-local-scope',
  '--mlir-print-debuginfo',
  '--mlir-elide-elementsattrs-if-larger=16',
  '--mlir-elide-resource-strings-if-larger=16',
];

/** A disagreement, printed as one line. */
export interface Finding {
  readonly kind: 'throw' | 'slow' | 'count' | 'operation' | 'insertion' | 'separators';
  readonly where: string;
  readonly message: string;
}

export interface Report {
  files: number;
  bytes: number;
  /** Whole files, and chunks of files with separators. */
  readonly whole: Tally;
  readonly chunks: Tally;
  readonly findings: Finding[];
  /** Problems of the parser in texts that the compiler accepts. Most are justified. */
  readonly problems: Finding[];
  readonly names: Map<string, number>;
  slowest: { where: string; milliseconds: number };
}

interface Tally {
  texts: number;
  accepted: number;
  printed: number;
  found: number;
  inserted: number;
}

const noTally = (): Tally => ({ texts: 0, accepted: 0, printed: 0, found: 0, inserted: 0 });

/** Every `.mlir` file below a folder, or the file itself, sorted. */
export function listFiles(path: string): string[] {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.mlir'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Compares the parser with the compiler's reader on every file. */
export async function compare(files: readonly string[], jobs = availableParallelism()): Promise<Report> {
  const report: Report = {
    files: 0,
    bytes: 0,
    whole: noTally(),
    chunks: noTally(),
    findings: [],
    problems: [],
    names: new Map(),
    slowest: { where: '', milliseconds: 0 },
  };
  const executable = ireeOpt === null ? null : elfOf(ireeOpt);
  if (executable === null) throw new Error('there is no iree-opt: IREE_OPT names one');
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < files.length) {
      const file = files[next++]!;
      await compareFile(executable, file, report);
      if (process.stderr.isTTY) process.stderr.write(`\r${report.files} of ${files.length} files`);
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  if (process.stderr.isTTY) process.stderr.write('\n');
  return report;
}

/** The executable behind pip's script. Running it directly saves most of the time. */
function elfOf(script: string): string {
  const library = join(dirname(script), '../lib');
  const pythons = existsSync(library) ? readdirSync(library) : [];
  const candidates = pythons.map((python) =>
    join(library, python, 'site-packages/iree/compiler/_mlir_libs', basename(script)),
  );
  return candidates.find((path) => existsSync(path)) ?? script;
}

async function compareFile(executable: string, file: string, report: Report): Promise<void> {
  const input = readFileSync(file);
  report.files++;
  report.bytes += input.length;
  const whole = timedParse(input, false, file, report);
  if (whole !== null) await compareText({ executable, file, input, from: 0 }, whole, report.whole, report);

  const starts = chunkStarts(input);
  if (starts.length === 1) return;
  const split = timedParse(input, true, file, report);
  if (split === null) return;
  const ends = starts.slice(1).map((start) => start - SEPARATOR.length);
  if (
    split.operations.some(({ start, chunk }) => start < starts[chunk]! || start >= (ends[chunk] ?? Infinity))
  )
    report.findings.push({ kind: 'separators', where: file, message: 'operations are in other chunks' });
  for (const [chunk, from] of starts.entries()) {
    const to = ends[chunk] ?? input.length;
    const own = {
      operations: split.operations.filter((operation) => operation.chunk === chunk),
      problems: split.problems.filter(({ offset }) => offset >= from && offset <= to),
    };
    const place = { executable, file, input: input.subarray(0, to), from };
    await compareText(place, own, report.chunks, report);
  }
}

const SEPARATOR = '// -----';

/** Byte offsets of the chunks of `--split-input-file`. */
function chunkStarts(input: Buffer): number[] {
  const starts = [0];
  for (let at = input.indexOf(SEPARATOR); at >= 0; at = input.indexOf(SEPARATOR, starts.at(-1)))
    starts.push(at + SEPARATOR.length);
  return starts;
}

interface Parsed {
  readonly operations: readonly Operation[];
  readonly problems: readonly Problem[];
}

function timedParse(input: Buffer, splitInputFile: boolean, file: string, report: Report): Parsed | null {
  const begin = performance.now();
  try {
    const result = parse(input, { splitInputFile });
    const milliseconds = performance.now() - begin;
    if (milliseconds > report.slowest.milliseconds) report.slowest = { where: file, milliseconds };
    if (milliseconds > LONGEST_MILLISECONDS)
      report.findings.push({ kind: 'slow', where: file, message: `${milliseconds.toFixed(0)} ms` });
    return result;
  } catch (error) {
    report.findings.push({ kind: 'throw', where: file, message: String(error) });
    return null;
  }
}

/** The bytes of `input` from `from` on, as a separate text. */
interface Place {
  readonly executable: string;
  readonly file: string;
  readonly input: Buffer;
  readonly from: number;
}

async function compareText(place: Place, parsed: Parsed, tally: Tally, report: Report): Promise<void> {
  const { executable, file, input, from } = place;
  const { operations, problems } = parsed;
  tally.texts++;
  const answer = await ask(executable, PRINT, input.subarray(from));
  if (answer === null) return;
  tally.accepted++;
  const at = (offset: number): string => {
    const { line, column } = locate(input, offset);
    return `${file}:${line}:${column}`;
  };
  const finding = (kind: Finding['kind'], where: string, message: string): void => {
    report.findings.push({ kind, where, message });
  };
  for (const { offset, message } of problems)
    report.problems.push({ kind: 'operation', where: at(offset), message });

  const printed = readPrint(answer);
  tally.printed += printed.length;
  tally.found += operations.length;
  for (const { name } of printed) report.names.set(name, (report.names.get(name) ?? 0) + 1);
  const first = printed.findIndex(({ name }, index) => operations[index]?.name !== name);
  if (first >= 0 || printed.length !== operations.length) {
    const index = first < 0 ? printed.length : first;
    const [mine, theirs] = [operations[index], printed[index]];
    finding(
      'count',
      mine === undefined ? file : at(mine.start),
      `${printed.length} printed, ${operations.length} found; the first to differ is number ${index}: ` +
        `printed ${theirs === undefined ? 'nothing' : `${theirs.name} from ${theirs.location}`}, ` +
        `found ${mine?.name ?? 'nothing'}${from === 0 ? '' : ` (chunk at byte ${from})`}`,
    );
    return;
  }
  operations.forEach((operation, index) => {
    for (const difference of differences(operation, printed[index]!))
      finding('operation', at(operation.start), difference);
  });
  if (operations.length === 0) return;

  const insertions = operations.map((operation, index) =>
    insertionFor(operation, `tuned.corpus = ${index} : i32`),
  );
  const edited = applyInsertions(input, insertions).subarray(from);
  const again = await ask(executable, PRINT, edited);
  if (again === null) {
    finding('insertion', at(operations[0]!.start), 'the compiler does not accept the edited text');
    return;
  }
  const marks = readPrint(again).map(
    ({ dictionary }) => /\btuned\.corpus = (\d+) : i32/.exec(dictionary)?.[1],
  );
  operations.forEach((operation, index) => {
    if (marks[index] === String(index)) tally.inserted++;
    else
      finding('insertion', at(operation.start), `the attribute of ${index} is ${marks[index] ?? 'missing'}`);
  });
}

/** The executable's output for a text; null if it rejects the text. */
function ask(executable: string, flags: readonly string[], text: Uint8Array): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(executable, [...flags, '-'], {
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: ORACLE_MILLISECONDS,
    });
    const parts: Buffer[] = [];
    child.stdout.on('data', (part: Buffer) => parts.push(part));
    child.stdin.on('error', () => {
      // The executable ended before it read everything. The exit code tells the result.
    });
    child.on('error', reject);
    child.on('close', (code) => {
      resolve(code === 0 ? Buffer.concat(parts).toString() : null);
    });
    child.stdin.end(text);
  });
}

function differences(operation: Operation, printed: Printed): string[] {
  const found: string[] = [];
  const check = (what: string, mine: string, theirs: string): void => {
    if (mine !== theirs) found.push(`${operation.name}: ${what} are ${mine}, printed ${theirs}`);
  };
  check('types', operation.operands.map(({ type }) => spellType(type)).join(' '), printed.types.join(' '));
  check('results', operation.results.map(spellType).join(' '), printed.results.join(' '));
  if (printed.maps !== null) check('maps', operation.indexingMaps.map(spellMap).join(' '), printed.maps);
  if (printed.iterators !== null) check('iterators', operation.iteratorTypes.join(' '), printed.iterators);
  return found;
}

/** Kind, shape and element type. The compiler prints layouts and encodings in another spelling. */
function spellType(type: Type): string {
  if (type.kind === 'opaque') return squeeze(type.text);
  const sizes = type.shape?.map((size) => (size < 0 ? '?' : String(size))) ?? ['*'];
  return `${type.kind}<${squeeze([...sizes, type.elementType].join('x'))}>`;
}

function spellMap({ dimensions, results }: AffineMap): string {
  return `${dimensions}(${results.map((result) => (result === null ? '*' : String(result))).join(',')})`;
}

function describe(tally: Tally): string {
  const { texts, accepted, printed, found, inserted } = tally;
  return (
    `${texts} texts, ${accepted} accepted; operations: ${printed} printed, ${found} found, ` +
    `${inserted} insertions landed`
  );
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      fuzz: { type: 'string', default: '0' },
      seed: { type: 'string', default: '1' },
      jobs: { type: 'string', default: String(availableParallelism()) },
    },
  });
  const folders = [...(process.env['CORPUS'] ?? '').split(delimiter), ...positionals].filter(
    (path) => path !== '',
  );
  const missing = folders.filter((path) => !existsSync(path));
  const mutants = Number(values.fuzz);
  if (missing.length > 0 || (folders.length === 0 && !(mutants > 0))) {
    console.error(
      missing.length > 0
        ? `there is no ${missing.join(', ')}`
        : 'CORPUS=folder[:folder...] or arguments name folders with .mlir files, or --fuzz N',
    );
    process.exitCode = 2;
    return;
  }
  const files = [...new Set(folders.flatMap(listFiles))];
  if (files.length > 0) {
    const report = await compare(files, Number(values.jobs));
    for (const { where, message } of report.problems) console.log(`problem ${where}: ${message}`);
    for (const { kind, where, message } of report.findings) console.log(`${kind} ${where}: ${message}`);
    console.log(`${report.files} files, ${(report.bytes / 1e6).toFixed(1)} MB`);
    console.log(`whole files: ${describe(report.whole)}`);
    console.log(`chunks: ${describe(report.chunks)}`);
    console.log(`printed: ${[...report.names].map(([name, count]) => `${count} ${name}`).join(', ')}`);
    console.log(`problems in accepted texts: ${report.problems.length}`);
    const { where, milliseconds } = report.slowest;
    console.log(`slowest parse: ${milliseconds.toFixed(1)} ms (${where})`);
    console.log(`disagreements: ${report.findings.length}`);
    if (report.findings.length > 0) process.exitCode = 1;
  }
  if (mutants > 0) {
    const texts = [
      ...Object.keys(examples).flatMap((name) => [customForm(name), quotedForm(name, '{a = "}{", b}')]),
      ...files.map((file) => readFileSync(file)),
    ];
    const { slowest, failures } = fuzz(texts, mutants, Number(values.seed), LONGEST_MILLISECONDS);
    for (const { index, reason } of failures.slice(0, 100)) console.log(`fuzz ${index}: ${reason}`);
    console.log(
      `fuzz: ${mutants} mutants of ${texts.length} texts, seed ${values.seed}, ${failures.length} failures; ` +
        `slowest ${slowest.milliseconds.toFixed(1)} ms for ${slowest.bytes} bytes (mutant ${slowest.index})`,
    );
    if (failures.length > 0) process.exitCode = 1;
  }
}

if (import.meta.main) await main();
