// Asks the compiler's own reader about every .mlir file under some folders, and compares with the parser:
//
//   CORPUS=folder[:folder...] node --conditions=source grammar/test/corpus.ts [--fuzz N] [--seed N] [FOLDER...]
//
// Exit code 1 when they disagree, or when a text makes the parser throw or take long; 2 when it cannot be run.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { applyInsertions, findConsumers, insertionFor, locate, parse } from '../src/main.ts';
import type { AffineMap, Consumer, Operation, Problem, Type } from '../src/main.ts';
import { rows } from '../src/table.ts';
import table from '../operations.json' with { type: 'json' };
import { examples, customForm, quotedForm } from './fixtures.ts';
import { fuzz } from './fuzz.ts';
import { ireeOpt } from './oracle.ts';

/** No text may take longer than this. */
export const LONGEST_MILLISECONDS = 1000;

/** A reader that takes longer than this hangs. */
const ORACLE_MILLISECONDS = 60_000;

const PRINT = [
  '--allow-unregistered-dialect',
  '--mlir-print-op-generic',
  '--mlir-print-local-scope',
  '--mlir-print-debuginfo',
  '--mlir-elide-elementsattrs-if-larger=16',
  '--mlir-elide-resource-strings-if-larger=16',
];

/** What the compiler's generic print says of one operation. */
export interface Printed {
  readonly name: string;
  /** Line and column in the input, unless the text gives a `loc(...)` of its own. */
  readonly location: string;
  readonly types: readonly string[];
  readonly results: readonly string[];
  /** Null when the print has none: the name alone says what they are. */
  readonly maps: string | null;
  readonly iterators: string | null;
  /** The discardable attributes. */
  readonly dictionary: string;
  /** The operations that its result goes through, each as {@link Consumer} says it. */
  readonly consumers: readonly PrintedConsumer[];
}

export type PrintedConsumer = Pick<Consumer, 'name' | 'elementwise' | 'body'>;

/** A disagreement, a line each. */
export interface Finding {
  readonly kind: 'throw' | 'slow' | 'count' | 'operation' | 'consumer' | 'insertion' | 'separators';
  readonly where: string;
  readonly message: string;
}

export interface Report {
  files: number;
  bytes: number;
  /** Files as a whole, and chunks of those that have separators. */
  readonly whole: Tally;
  readonly chunks: Tally;
  readonly findings: Finding[];
  /** What the parser says of texts that the compiler accepts; most of it is right to be said. */
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
  /** Links of all chains of consumers, printed and found. */
  links: number;
  followed: number;
}

const noTally = (): Tally => ({
  ...{ texts: 0, accepted: 0, printed: 0, found: 0, inserted: 0 },
  ...{ links: 0, followed: 0 },
});

/** Every `.mlir` file under a folder, or the file itself, in a fixed order. */
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

/** pip's script starts an executable; to run that one directly saves most of the time. */
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
  if (whole !== null)
    await compareText({ executable, file, input, from: 0, split: false }, whole, report.whole, report);

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
    const place = { executable, file, input: input.subarray(0, to), from, split: true };
    await compareText(place, own, report.chunks, report);
  }
}

const SEPARATOR = '// -----';

/** Where the chunks of `--split-input-file` start. */
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

/** The bytes of `input` from `from` on, as a text of their own. */
interface Place {
  readonly executable: string;
  readonly file: string;
  readonly input: Buffer;
  readonly from: number;
  /** Whether it is one of several chunks. */
  readonly split: boolean;
}

async function compareText(place: Place, parsed: Parsed, tally: Tally, report: Report): Promise<void> {
  const { executable, file, input, from, split } = place;
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
  const chains = findConsumers(input, operations, { splitInputFile: split });
  for (const [index, chain] of chains.entries()) {
    const { consumers } = printed[index]!;
    tally.links += consumers.length;
    tally.followed += chain.length;
    // The text may tell less than the print, but nothing else.
    chain.forEach((link, step) => {
      const wrong = wrongConsumer(link, consumers[step]);
      if (wrong !== null) finding('consumer', at(operations[index]!.start), `link ${step}: ${wrong}`);
    });
  }
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

/** What the executable prints for a text, or null when it does not accept it. */
function ask(executable: string, flags: readonly string[], text: Uint8Array): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(executable, [...flags, '-'], {
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: ORACLE_MILLISECONDS,
    });
    const parts: Buffer[] = [];
    child.stdout.on('data', (part: Buffer) => parts.push(part));
    child.stdin.on('error', () => {
      // It ended before it had read everything: its exit code says the rest.
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

function wrongConsumer(found: Consumer, printed: PrintedConsumer | undefined): string | null {
  const { name, elementwise, body } = found;
  if (name !== printed?.name) return `found ${name}, printed ${printed?.name ?? 'none'}`;
  if (name === 'linalg.generic' && elementwise && !printed.elementwise) return `${name} is not elementwise`;
  if (body !== null && body.join() !== printed.body?.join())
    return `the body of ${name} is ${body.join()}, printed ${printed.body?.join() ?? 'none'}`;
  return null;
}

/** Without blanks, with every fraction and zero point spelled the same way. */
function squeeze(text: string): string {
  return text
    .replaceAll(/\s+/g, '')
    .replaceAll(/\d+\.\d+(?:e[+-]\d+)?/g, (fraction) => String(Number(fraction)))
    .replaceAll(/(\d):0(?=[,}>])/g, '$1');
}

/** Kind, shape and element type; layouts and encodings are printed in other words than they are read. */
function spellType(type: Type): string {
  if (type.kind === 'opaque') return squeeze(type.text);
  const sizes = type.shape?.map((size) => (size < 0 ? '?' : String(size))) ?? ['*'];
  return `${type.kind}<${squeeze([...sizes, type.elementType].join('x'))}>`;
}

function spellMap({ dimensions, results }: AffineMap): string {
  return `${dimensions}(${results.map((result) => (result === null ? '*' : String(result))).join(',')})`;
}

// The rest reads the generic print, line by line and bracket by bracket, and shares nothing with the parser.

interface Open {
  readonly name: string;
  readonly indent: number;
  readonly head: string;
  /** Whether it counts: not the ones inside of patterns or of other contractions. */
  readonly counts: boolean;
}

/** By what their statement starts with. */
const names: ReadonlySet<string> = new Set(
  rows.filter(({ dictionary }) => dictionary !== 'operator').map(({ name }) => name),
);
/** By what the property `name` of a `torch.operator` says. */
const operators: ReadonlySet<string> = new Set(
  rows.filter(({ dictionary }) => dictionary === 'operator').map(({ name }) => name),
);
const opaque: ReadonlySet<string> = new Set(table.regions.opaque);

/** The operations in a generic print, in the order in which they are written. */
export function readPrint(print: string): Printed[] {
  const found: (Printed | null)[] = [];
  const open: (Open & { readonly place: number; readonly line: number })[] = [];
  const lines = print.split('\n');
  const consumersOf = readConsumers(lines);
  let at = 0;
  // Attributes of unknown dialects are printed as they were read, line ends included; a location ends every operation.
  const rest = (line: string): string => {
    let text = line;
    while (!/ loc\(\S.*\)$/.test(text) && at + 1 < lines.length) text += lines[++at]!;
    return text;
  };
  for (; at < lines.length; at++) {
    const line = lines[at]!;
    const indent = line.search(/\S/);
    const name = /^\s*(?:%[^"=]+ = )?"([^"]+)"\(/.exec(line)?.[1];
    const inside = open.at(-1);
    if (name !== undefined) {
      const counts = isWanted(name, line) && !open.some((other) => opaque.has(other.name) || other.counts);
      if (line.endsWith('({')) {
        open.push({ name, indent, head: line, counts, place: found.length, line: at });
        if (counts) found.push(null);
      } else if (counts) {
        const consumers = consumersOf(at);
        found.push({ ...readOperation(name, rest(line)), consumers });
      }
    } else if (inside?.indent === indent && line.startsWith('})', indent)) {
      open.pop();
      if (inside.counts)
        found[inside.place] = {
          ...readOperation(inside.name, `${inside.head}${rest(line.trim())}`),
          consumers: consumersOf(inside.line),
        };
    }
  }
  return found.filter((operation) => operation !== null);
}

/** Follows the result of the operation on a line through the operations of its block that alone use it. */
function readConsumers(lines: readonly string[]): (line: number) => PrintedConsumer[] {
  const indents = lines.map((line) => line.search(/\S/));
  const mentions = new Map<string, number[]>();
  lines.forEach((line, at) => {
    for (const [value] of line.matchAll(/%[\w$.-]+/g)) {
      const known = mentions.get(value);
      if (known === undefined) mentions.set(value, [at]);
      else known.push(at);
    }
  });
  const resultOf = (line: number): string | undefined => /^\s*(%[\w$.-]+) = "/.exec(lines[line]!)?.[1];
  return (start) => {
    // Labels of blocks stand one step less deep than their operations, and the line that opens the region two.
    const isInside = (line: number): boolean => {
      const indent = indents[line];
      return indent !== undefined && (indent >= indents[start]! || /^\s*(?:\^|$)/.test(lines[line]!));
    };
    let [first, last] = [start, start];
    while (isInside(first - 1)) first--;
    while (isInside(last + 1)) last++;
    const chain: PrintedConsumer[] = [];
    for (let line = start; chain.length < 100;) {
      const value = resultOf(line);
      if (value === undefined) break;
      const own = line;
      const places = mentions.get(value)!.filter((at) => at >= first && at <= last);
      const users = places.filter((at) => at !== own);
      if (users.length !== 1 || places.length !== 2 || indents[users[0]!] !== indents[start]) break;
      line = users[0]!;
      const name = /^\s*%[^"=]+ = "([^"]+)"\(/.exec(lines[line]!)?.[1];
      if (name === undefined) break;
      chain.push(readConsumer(lines, indents, line, name));
    }
    return chain;
  };
}

function readConsumer(
  lines: readonly string[],
  indents: readonly number[],
  at: number,
  name: string,
): PrintedConsumer {
  const head = lines[at]!;
  const body: string[] = [];
  if (head.endsWith('({'))
    for (let line = at + 1; line < lines.length && !lines[line]!.startsWith('})', indents[at]); line++) {
      const inner = /^\s*%[^"=]+ = "([^"]+)"\(/.exec(lines[line]!)?.[1];
      if (inner !== undefined) body.push(inner);
    }
  return {
    name: name === 'torch.operator' ? operatorOf(head) : name,
    elementwise:
      readIterators(head)
        ?.split(' ')
        .every((type) => type === 'parallel' || type === '') ?? false,
    body,
  };
}

/** Generics count with two inputs, one output and a reduction. */
function isWanted(name: string, head: string): boolean {
  if (name === 'torch.operator') return operators.has(operatorOf(head));
  if (name !== 'linalg.generic') return names.has(name);
  return head.includes('iterator_type<reduction>') && head.includes('operandSegmentSizes = array<i32: 2, 1>');
}

function operatorOf(head: string): string {
  return /<\{(?:.*, )?name = "([^"]*)"/.exec(head)?.[1] ?? '';
}

/** `"name"(values) <{properties}> ({regions}) {attributes} : (types) -> types loc(...)`, the regions left out. */
function readOperation(name: string, text: string): Omit<Printed, 'consumers'> {
  let at = text.indexOf(`"${name}"(`) + name.length + 2;
  const group = (opener: string): string => {
    if (!text.startsWith(opener, at)) return '';
    const end = closing(text, at);
    const content = text.slice(at + opener.length, end - opener.length);
    at = text[end] === ' ' ? end + 1 : end;
    return content;
  };
  group('(');
  const properties = group('<{');
  group('(');
  const dictionary = group('{');
  if (text.startsWith(': ', at)) at += 2;
  const types = splitList(group('(')).map(shapedType);
  if (text.startsWith('-> ', at)) at += 3;
  const results = text.startsWith('(', at) ? group('(') : text.slice(at).replace(/ loc\(.*$/, '');
  return {
    name: name === 'torch.operator' ? operatorOf(text) : name,
    location: /loc\("(?:-|<stdin>)":(\d+:\d+)\)$/.exec(text)?.[1] ?? 'somewhere',
    types,
    results: splitList(results).map(shapedType),
    maps: readMaps(properties),
    iterators: readIterators(properties),
    dictionary,
  };
}

/** The offset after the bracket that closes the one at `from`. */
function closing(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') {
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
    } else if ('([{<'.includes(character)) {
      depth++;
    } else if (')]}'.includes(character) || (character === '>' && text[at - 1] !== '-')) {
      depth--;
      if (depth === 0) return at + 1;
    }
  }
  return text.length;
}

function splitList(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if ('([{<"'.includes(text[at]!)) {
      at = text[at] === '"' ? text.indexOf('"', at + 1) : closing(text, at) - 1;
    } else if (text[at] === ',') {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  const last = text.slice(start).trim();
  return last === '' ? parts : [...parts, last];
}

function shapedType(text: string): string {
  if (text === '!torch.vtensor') return 'vtensor<*xunk>';
  const [, list, element] = /^!torch\.vtensor<(\*|\[[^\]]*\]),([^,]*).*>$/.exec(text) ?? [];
  if (list !== undefined) {
    const sizes = list === '*' ? [list] : splitList(list.slice(1, -1));
    return `vtensor<${squeeze([...sizes, element!].join('x'))}>`;
  }
  const [, kind, content] = /^(tensor|memref|vector)<(.*)>$/.exec(text) ?? [];
  if (kind === undefined) return squeeze(text);
  let rest = splitList(content!)[0]!;
  const sizes: string[] = [];
  for (let size; (size = /^(\*|\?|\d+|\[\d+\])x/.exec(rest)) !== null; rest = rest.slice(size[0].length))
    sizes.push(size[1]!.startsWith('[') ? '?' : size[1]!);
  return `${kind}<${squeeze([...sizes, rest].join('x'))}>`;
}

function readMaps(properties: string): string | null {
  const list = /\bindexing_maps = \[(.*?>)\]/.exec(properties)?.[1];
  if (list === undefined) return null;
  return splitList(list)
    .map((map) => {
      const [, dimensions, results] = /^affine_map<\(([^)]*)\)(?:\[[^\]]*\])? -> \((.*)\)>$/.exec(map) ?? [];
      if (dimensions === undefined) return map;
      const plain = splitList(results!).map((result) => /^d(\d+)$/.exec(result)?.[1] ?? '*');
      return `${splitList(dimensions).length}(${plain.join(',')})`;
    })
    .join(' ');
}

function readIterators(properties: string): string | null {
  const list = /\biterator_types = \[(.*?)\]/.exec(properties)?.[1];
  if (list === undefined) return null;
  return [...list.matchAll(/iterator_type<(\w+)>/g)].map(([, kind]) => kind!).join(' ');
}

function describe(tally: Tally): string {
  const { texts, accepted, printed, found, inserted, links, followed } = tally;
  return (
    `${texts} texts, ${accepted} accepted; operations: ${printed} printed, ${found} found, ` +
    `${inserted} insertions landed; consumers: ${links} printed, ${followed} found`
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
