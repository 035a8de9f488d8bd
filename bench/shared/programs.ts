// Whole programs, compiled by stock and tuned: the results are compared, then both are timed. A row for each function.
import { readFileSync } from 'node:fs';
import { readArguments as readCompilerArguments } from '../../src/compiler/arguments.ts';
import { loadOptionTable } from '../../src/compiler/options.ts';
import { elementTypeConversion } from '../../src/input/input.ts';
import { functionsOf } from '../../src/running/callable.ts';
import { writeInputs } from '../../src/program/inputs.ts';
import type { Verdict } from '../../src/program/verify.ts';
import type { Explanation } from '../../src/report/explain.ts';
import { formatSeconds } from '../../src/system/format.ts';
import type { Convert } from '../../src/workload/kind.ts';
import { counted, jsonFile, secondsOption, wholeNumber, type Arguments } from './arguments.ts';
import { measureEach, type Table } from './each-model.ts';
import { gainOf, gainText, listed, ratingOf, ratioText, worstText, type Rating } from './gains.ts';
import { either, endingText, percent, settledShare, shareLines, tuningText } from './rows.ts';
import { compileBoth, openTools, type State, type Tools } from './stock-and-tuned.ts';
import { verifyProgram } from './verify-program.ts';
import { aboutRun, HOST_FLAGS, openWorkplace } from './workplace.ts';

export interface Program {
  /** Name in the table. */
  readonly name: string;
  readonly path: string;
  /** Values of `--input=` for its only function. Null generates inputs for each public function. */
  readonly inputs: readonly string[] | null;
  /** More flags of the runtime's tools. */
  readonly run: readonly string[];
}

/** Options with one value that both benches of programs take. */
export const PROGRAM_OPTIONS = ['budget', 'timing', 'rounds', 'device', 'folder', 'json'];

export const PROGRAM_USAGE = `  --budget  seconds of tuning per program (default 60)
  --timing  about the seconds of timing per function, and the time limit of one call (default 60)
  --rounds  most rounds of timing; slow programs get fewer (default 15)
  --device  local-sync for one thread (default), or local-task for all threads
  --folder  keep the tuning database and the cache in FOLDER (default: a temporary folder)
  --json    also write all values to FILE, after each program`;

export interface ProgramOptions {
  readonly budgetSeconds: number;
  readonly timingSeconds: number;
  readonly rounds: number;
  /** Of both compilers. */
  readonly flags: readonly string[];
  readonly driver: string;
  readonly folder: string | undefined;
  readonly json: string | undefined;
}

/** @throws UsageError for an invalid value */
export const programOptions = (args: Arguments, moreFlags: readonly string[] = []): ProgramOptions => ({
  budgetSeconds: secondsOption(args, 'budget', 60),
  timingSeconds: secondsOption(args, 'timing', 60),
  rounds: wholeNumber(args, 'rounds', 15),
  flags: [...HOST_FLAGS, ...moreFlags],
  driver: args.options['device'] ?? 'local-sync',
  folder: args.options['folder'],
  json: jsonFile(args),
});

/** Result of one function, or of a program that was not run. */
export interface Result {
  /** Name of the program, with that of the function if there are several. */
  readonly model: string;
  readonly state: State;
  /** Why there are no results or no times, or the first difference of results. */
  readonly reason: string | null;
  readonly verdict: Verdict | null;
  readonly sameCode: boolean;
  readonly explanation: Explanation | null;
}

/** Prints a table and a summary of all programs. @param bench the name in `npm run bench:NAME` */
export async function measurePrograms(
  bench: string,
  programs: readonly Program[],
  { driver, folder, json, ...options }: ProgramOptions,
): Promise<void> {
  const place = await openWorkplace();
  const tools = openTools(place, { driver, folder, budgetSeconds: options.budgetSeconds });
  const optionTable = await loadOptionTable(place.compiler.executable, place.cacheDirectory);
  const convert = elementTypeConversion(readCompilerArguments(options.flags, optionTable));
  const about = { ...aboutRun(bench, driver, { iree: place.description }), options };
  const results = await measureEach(programs, { folder: place.folder, json, about }, table, (program, own) =>
    measure(program, own, options, tools, convert),
  );
  console.log(`\n${summaryText(summarise(results))}`);
}

/** Compiles everything first, because a compile would disturb the timing. */
async function measure(
  { name, path, inputs, run }: Program,
  folder: string,
  { flags, rounds, timingSeconds }: Pick<ProgramOptions, 'flags' | 'rounds' | 'timingSeconds'>,
  tools: Tools,
  convert: Convert,
): Promise<Result[]> {
  const compiled = await compileBoth(path, folder, flags, tools);
  const { state, error, stock, tuned, sameCode, explanation } = compiled;
  const base = { model: name, state, reason: error, verdict: null, sameCode, explanation };
  if (error !== null) return [base];
  const modules = { module: stock, dumpModule: tools.dumpModule };
  const functions = await functionsOf(readFileSync(path), convert, [], () => Promise.resolve(modules));
  if (functions.length === 0) return [{ ...base, reason: 'no public function was found' }];
  const results: Result[] = [];
  for (const called of functions) {
    const result = { ...base, model: functions.length === 1 ? name : `${name}: ${called.name}` };
    if (inputs === null && called.unsupported !== null) {
      results.push({ ...result, reason: called.unsupported });
      continue;
    }
    const contest = {
      ...{ stock, tuned, function: called, inputs: inputs ?? writeInputs(called, folder, 1) },
      ...{ flags: run, device: tools.device, tools, folder },
    };
    // The times of the same code are only shown, so one pair is enough.
    const verdict = await verifyProgram(contest, { pairs: sameCode ? 1 : rounds, seconds: timingSeconds });
    results.push({ ...result, verdict, reason: verdict.reason });
  }
  return results;
}

const table: Table<Result> = {
  header: ['program', 'stock', 'tuned', 'gain', 'outputs', 'decided', 'route', 'applied', 'tuning', ''],
  widths: [0, 8, 8, 19, 9, 7, 10, 7, 8, 0],
  cells(result) {
    const { model, verdict, explanation } = result;
    const [stock = NaN, tuned = NaN] = verdict?.timing?.seconds ?? [];
    return [
      ...[model, formatSeconds(stock), formatSeconds(tuned), gainText(result)],
      either(verdict?.equal, 'equal', 'DIFFERENT'),
      percent(settledShare(explanation)),
      explanation?.route ?? '-',
      either(explanation?.applied, 'yes', 'NO'),
      tuningText(explanation),
      endingText(result),
    ];
  },
  linesBelow: ({ explanation }) => shareLines(explanation),
  summarise,
};

/** A program below this gain counts as slower. Noise is usually less. */
const SLOWER = 0.98;
/** Sizes of contractions that tuning is for, in multiply-adds: above the first, up to the second. */
const TUNABLE_SIZES = [64 ** 3, 2048 ** 3] as const;

interface Summary extends Rating {
  readonly functions: number;
  readonly stockDoesNotCompile: readonly string[];
  readonly broken: readonly string[];
  readonly wrong: readonly string[];
  /** Functions whose tuned module has the same bytes as stock's. */
  readonly sameCode: readonly string[];
  readonly slower: readonly string[];
  /** Only functions of programs whose largest contraction is in the range of `TUNABLE_SIZES`. */
  readonly tunable: Rating;
}

function summarise(results: readonly Result[]): Summary {
  const where = (holds: (result: Result) => boolean) => results.filter(holds).map(({ model }) => model);
  const rated = (some: readonly Result[]) =>
    ratingOf(some.map((result) => ({ model: result.model, gain: gainOf(result) })));
  const isTunable = ({ explanation }: Result) => {
    const size = largestContraction(explanation);
    return size > TUNABLE_SIZES[0] && size <= TUNABLE_SIZES[1];
  };
  return {
    functions: results.length,
    stockDoesNotCompile: where(({ state }) => state === 'stock does not compile'),
    broken: where(({ state }) => state === 'broken'),
    wrong: where(({ verdict }) => verdict?.equal === false),
    sameCode: where(({ sameCode }) => sameCode),
    slower: where((result) => (gainOf(result) ?? 1) < SLOWER),
    ...rated(results),
    tunable: rated(results.filter(isTunable)),
  };
}

/** Multiply-adds from workload keys such as `contraction m=64 n=64 k=64 ...`; 0 without one. */
function largestContraction(explanation: Explanation | null): number {
  const workloads = (explanation?.operations ?? []).flatMap(({ workload }) => workload ?? []);
  const sizes = workloads.map((workload) =>
    [...workload.matchAll(/ [bmnk]\d*=(\d+)/g)].reduce((product, [, size]) => product * Number(size), 1),
  );
  return Math.max(0, ...sizes);
}

function summaryText(summary: Summary): string {
  const mean = ({ geometricMean, rated }: Rating) =>
    `${ratioText(geometricMean)} over ${counted(rated, 'function')}`;
  return [
    `functions               ${summary.functions}`,
    `stock does not compile  ${listed(summary.stockDoesNotCompile)}`,
    `broken by us            ${listed(summary.broken)}`,
    `wrong                   ${listed(summary.wrong)}`,
    `same code               ${listed(summary.sameCode)}`,
    `slower than ${SLOWER}x       ${listed(summary.slower)}`,
    `geometric mean          ${mean(summary)}`,
    `  64^3 < MACs <= 2048^3 ${mean(summary.tunable)}`,
    `worst                   ${worstText(summary)}`,
  ].join('\n');
}
