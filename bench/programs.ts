// Whole programs, compiled by stock and tuned: the results are compared, then both are timed.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { readArguments as readCompilerArguments } from '../src/compiler/arguments.ts';
import { loadOptionTable } from '../src/compiler/options.ts';
import { functionsOf } from '../src/program/functions.ts';
import { geometricMean } from '../src/measure/statistics.ts';
import { writeInputs } from '../src/program/inputs.ts';
import type { Convert } from '../src/workload/kind.ts';
import type { Verdict } from '../src/program/verify.ts';
import { verifyProgram } from './shared/verify-program.ts';
import type { Explanation } from '../src/report/explain.ts';
import { formatSeconds } from '../src/system/format.ts';
import { elementTypeConversion } from '../src/input/reading.ts';
import {
  counted,
  jsonFile,
  readArguments,
  run,
  say,
  secondsOption,
  UsageError,
  wholeNumber,
} from './shared/arguments.ts';
import { gainOf } from './shared/gains.ts';
import { either, growingRow, tuningText } from './shared/rows.ts';
import { compileBoth, openTools, type State, type Tools } from './shared/stock-and-tuned.ts';
import { describeMachine, HOST_FLAGS, openWorkplace } from './shared/workplace.ts';

const USAGE = `usage: npm run bench:programs -- FILE_OR_FOLDER... [--budget SECONDS] [--timing SECONDS] [--rounds N]
                              [--device DRIVER] [--flags "..."] [--folder FOLDER] [--json FILE]

  FILE_OR_FOLDER  .mlir files, and folders with such files at any depth
  --budget        seconds of tuning per program (default 60)
  --timing        about the seconds of timing per program, and the time limit of one call (default 60)
  --rounds        most rounds of timing; slow programs get fewer (default 7)
  --device        driver of the runtime (default local-sync, one thread)
  --flags         more flags for both compilers, after the flags for this machine's CPU
  --folder        keep the tuning database and the cache in FOLDER (default: a temporary folder)
  --json          also write all values to FILE, after each program`;

/** A program below this ratio counts as slower. Noise is usually less. */
const SLOWER = 0.98;
/** Sizes of contractions that tuning is for, in multiply-adds: above the first, up to the second. */
const TUNABLE_SIZES = [64 ** 3, 2048 ** 3] as const;

interface Options {
  readonly budgetSeconds: number;
  readonly timingSeconds: number;
  readonly rounds: number;
  readonly flags: readonly string[];
}

/** Result of one function, or of a program that was not run. */
interface Result {
  readonly program: string;
  /** Null for the only function of a program, and for a program that was not run. */
  readonly function: string | null;
  readonly state: State;
  /** Why there are no results, or the first difference of results. */
  readonly reason: string | null;
  readonly verdict: Verdict | null;
  /** Whether both modules have the same bytes. Their times then differ only by noise. */
  readonly sameCode: boolean;
  /** Multiply-adds of the largest static contraction. */
  readonly largestContraction: number | null;
  readonly explanation: Explanation | null;
}

async function main(): Promise<void> {
  const names = ['budget', 'timing', 'rounds', 'device', 'flags', 'folder', 'json'];
  const args = readArguments(names, USAGE, joinFlags(process.argv.slice(2)));
  const files = programsUnder(args.positionals);
  if (files.length === 0)
    throw new UsageError('it takes .mlir files or folders with such files; --help says more');
  const options: Options = {
    budgetSeconds: secondsOption(args, 'budget', 60),
    timingSeconds: secondsOption(args, 'timing', 60),
    rounds: wholeNumber(args, 'rounds', 7),
    flags: [...HOST_FLAGS, ...(args.options['flags'] ?? '').split(/\s+/).filter((flag) => flag !== '')],
  };
  const json = jsonFile(args);
  const driver = args.options['device'] ?? 'local-sync';
  const place = await openWorkplace();
  const { budgetSeconds } = options;
  const tools = openTools(place, { driver, budgetSeconds, folder: args.options['folder'] });
  const table = await loadOptionTable(place.compiler.executable, place.cacheDirectory);
  const convert = elementTypeConversion(readCompilerArguments(options.flags, table));
  const about = {
    version: 1,
    date: new Date().toISOString(),
    machine: describeMachine(driver),
    versions: { iree: place.description, node: process.version },
    options,
  };

  const results: Result[] = [];
  const nameWidth = Math.max(...files.map(({ name }) => name.length));
  console.log(growingRow(HEADER, nameWidth, WIDTHS));
  for (const [i, file] of files.entries()) {
    say(`${file.name} (${i + 1} of ${files.length}) ...`);
    const folder = join(place.folder, `program${i}`);
    mkdirSync(folder);
    try {
      for await (const result of measure(file, folder, options, tools, convert)) {
        results.push(result);
        console.log(growingRow(cells(result), nameWidth, WIDTHS));
      }
    } finally {
      // Inputs can be large.
      rmSync(folder, { recursive: true });
    }
    if (json !== undefined)
      writeFileSync(json, `${JSON.stringify({ ...about, summary: summarise(results), results }, null, 2)}\n`);
  }
  console.log(`\n${summaryText(summarise(results))}`);
}

/** Joins `--flags "--a --b"` to `--flags=--a --b`, because node:util reads a value with a leading dash as an option. */
function joinFlags(argv: readonly string[]): string[] {
  const at = argv.indexOf('--flags');
  const value = at < 0 ? undefined : argv[at + 1];
  return value === undefined ? [...argv] : argv.toSpliced(at, 2, `--flags=${value}`);
}

interface Program {
  /** Path relative to the common folder of all programs. */
  readonly name: string;
  readonly path: string;
}

/** @throws UsageError for a missing file or folder */
function programsUnder(paths: readonly string[]): Program[] {
  const files = paths.flatMap((path) => {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined) throw new UsageError(`${path}: there is no such file`);
    if (!status.isDirectory()) return [path];
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.mlir'))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  });
  const unique = [...new Set(files.map((file) => resolve(file)))];
  let common = dirname(unique[0] ?? '/');
  while (!unique.every((file) => !relative(common, file).startsWith('..'))) common = dirname(common);
  return unique.map((path) => ({ name: relative(common, path), path }));
}

/** Compiles a program with both compilers, then runs each of its functions. */
async function* measure(
  { name, path }: Program,
  folder: string,
  options: Options,
  tools: Tools,
  convert: Convert,
): AsyncGenerator<Result> {
  const compiled = await compileBoth(path, folder, options.flags, tools);
  const { state, error, stock, tuned, sameCode, explanation } = compiled;
  const base = {
    ...{ program: name, function: null, state, verdict: null, sameCode, explanation },
    largestContraction: largestContraction(explanation),
  };
  if (error !== null) {
    yield { ...base, reason: error };
    return;
  }
  const modules = { module: stock, dumpModule: tools.dumpModule };
  const functions = await functionsOf(readFileSync(path), convert, {}, () => Promise.resolve(modules));
  if (functions.length === 0) yield { ...base, reason: 'no public function was found' };
  for (const called of functions) {
    const result = { ...base, function: functions.length === 1 ? null : called.name };
    if (called.unsupported !== null) {
      yield { ...result, reason: called.unsupported };
      continue;
    }
    const contest = {
      stock,
      tuned,
      function: called,
      inputs: await writeInputs(called, folder, 1),
      device: tools.device,
      tools,
      folder,
    };
    // The times of the same code are only shown, so one pair is enough.
    const extent = { pairs: sameCode ? 1 : options.rounds, seconds: options.timingSeconds };
    const verdict = await verifyProgram(contest, extent);
    yield { ...result, verdict, reason: verdict.reason };
  }
}

/** Multiply-adds from workload keys such as `contraction m=64 n=64 k=64 ...`. */
function largestContraction(explanation: Explanation | null): number | null {
  const sizes = workloadsOf(explanation).map((workload) =>
    [...workload.matchAll(/ [bmnk]\d*=(\d+)/g)].reduce((product, [, size]) => product * Number(size), 1),
  );
  return sizes.length === 0 ? null : Math.max(...sizes);
}

const workloadsOf = (explanation: Explanation | null) =>
  (explanation?.operations ?? []).flatMap(({ workload }) => (workload === null ? [] : [workload]));

const HEADER = ['program', 'stock', 'tuned', 'ratio', 'outputs', 'decided', 'route', 'applied', 'tuning', ''];
const WIDTHS = [0, 8, 8, 9, 9, 7, 10, 7, 8, 0];

function cells(result: Result): string[] {
  const { program, verdict, sameCode, explanation, state } = result;
  const workloads = workloadsOf(explanation).length;
  const decided = explanation?.operations.filter(({ outcome }) => outcome === 'hit' || outcome === 'tuned');
  const ratio = gainOf(result);
  const [stock = NaN, tuned = NaN] = verdict?.timing?.seconds ?? [];
  const remark = [result.function, state === 'compiled by both' ? null : state, result.reason];
  return [
    program,
    formatSeconds(stock),
    formatSeconds(tuned),
    ratio === null ? '-' : sameCode ? 'same code' : `${ratio.toFixed(2)}x`,
    either(verdict?.equal, 'equal', 'DIFFERENT'),
    decided === undefined ? '-' : `${decided.length}/${workloads}`,
    explanation?.route ?? '-',
    either(explanation?.applied, 'yes', 'NO'),
    tuningText(explanation),
    remark.filter((text) => text !== null).join(': '),
  ];
}

interface Summary {
  readonly programs: number;
  readonly stockDoesNotCompile: number;
  readonly compiledByBoth: number;
  readonly broken: number;
  /** Functions whose results were compared. */
  readonly verified: number;
  readonly wrong: number;
  /** Functions with a ratio. */
  readonly rated: number;
  readonly slower: number;
  /** Null without any ratio. */
  readonly geometricMean: number | null;
  /** Only programs whose largest contraction is in the range of `TUNABLE_SIZES`. */
  readonly tunable: { readonly rated: number; readonly geometricMean: number | null };
}

function summarise(results: readonly Result[]): Summary {
  const inState = (state: State) =>
    new Set(results.filter((result) => result.state === state).map(({ program }) => program)).size;
  const verified = results.filter(({ verdict }) => verdict !== null && verdict.equal !== null);
  const ratios = (some: readonly Result[]) => some.map(gainOf).filter((ratio) => ratio !== null);
  const all = ratios(results);
  const tunable = ratios(
    results.filter(
      ({ largestContraction: size }) => size !== null && size > TUNABLE_SIZES[0] && size <= TUNABLE_SIZES[1],
    ),
  );
  return {
    programs: new Set(results.map(({ program }) => program)).size,
    stockDoesNotCompile: inState('stock does not compile'),
    compiledByBoth: inState('compiled by both'),
    broken: inState('broken'),
    verified: verified.length,
    wrong: verified.filter(({ verdict }) => verdict?.equal === false).length,
    rated: all.length,
    slower: all.filter((ratio) => ratio < SLOWER).length,
    geometricMean: meanOf(all),
    tunable: { rated: tunable.length, geometricMean: meanOf(tunable) },
  };
}

const meanOf = (ratios: readonly number[]) => (ratios.length === 0 ? null : geometricMean(ratios));

function summaryText(summary: Summary): string {
  const mean = (value: number | null, over: number) =>
    `${value === null ? '-' : `${value.toFixed(3)}x`} over ${counted(over, 'function')}`;
  return [
    `programs             ${summary.programs}; stock does not compile ${summary.stockDoesNotCompile}`,
    `compiled by both     ${summary.compiledByBoth}`,
    `broken by us         ${summary.broken}`,
    `outputs compared     ${counted(summary.verified, 'function')}`,
    `wrong                ${summary.wrong}`,
    `slower than ${SLOWER}x   ${summary.slower} of ${summary.rated}`,
    `geometric mean       ${mean(summary.geometricMean, summary.rated)}`,
    `  64^3 < MACs <= 2048^3  ${mean(summary.tunable.geometricMean, summary.tunable.rated)}`,
  ].join('\n');
}

await run('bench:programs', main);
