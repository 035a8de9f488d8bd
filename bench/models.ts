// Models of today's architectures: what tuning gains in each, how much of their time it reaches, and what it leaves.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { geometricMean } from '../src/measure/statistics.ts';
import { ELIDED } from '../src/input/survey.ts';
import { programSignature } from '../src/input/signature.ts';
import { verifyProgram, type Verdict } from '../src/program/verify.ts';
import type { Explanation } from '../src/report/explain.ts';
import { formatSeconds } from '../src/system/format.ts';
import { contractionRoots, type Root } from './models/contractions.ts';
import { coverageOf, type Coverage, type DispatchTime } from './models/coverage.ts';
import { inPairs, timeDispatches } from '../src/measure/compare-modules.ts';
import { agreementsOf, type Agreement } from './models/agreement.ts';
import { exportModels, type Model } from './models/exported.ts';
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
import { either, growingRow } from './shared/rows.ts';
import { compileBoth, openTools, type State, type Tools } from './shared/stock-and-tuned.ts';
import { describeMachine, HOST_FLAGS, openWorkplace } from './shared/workplace.ts';

const USAGE = `usage: npm run bench:models -- [--only NAME,NAME] [--budget SECONDS] [--rounds N] [--device DRIVER]
                            [--folder FOLDER] [--json FILE]

  --only    these models (default: all)
  --budget  seconds of tuning per model (default 60)
  --rounds  how often both are timed; fewer for models that take long (default 15)
  --device  what to measure on: local-sync, one thread (the default), or local-task, all of them
  --folder  where tuning database and cache are kept (default: nowhere)
  --json    also write every value to FILE, anew after each model`;

/** About how long the comparison of one model may take, and at most one call of it. */
const TIMING_SECONDS = 60;

/** Pairs of processes in which the dispatches of both programs are timed. */
const PAIRS = 15;

/** What is left for a reason is shown from this share of the time on. */
const LEAST_SHARE = 0.005;

interface Result {
  readonly model: string;
  readonly state: State;
  /** Why there are no results or no times, or what the first result that differs says. */
  readonly reason: string | null;
  readonly verdict: Verdict | null;
  readonly sameCode: boolean;
  readonly coverage: Coverage | null;
  readonly agreements: readonly Agreement[];
  /** Of the stock program. */
  readonly dispatches: readonly (DispatchTime & { readonly root: Root | null })[];
  readonly explanation: Explanation | null;
}

async function main(): Promise<void> {
  const args = readArguments(['only', 'budget', 'rounds', 'device', 'folder', 'json'], USAGE);
  if (args.positionals[0] !== undefined)
    throw new UsageError(`${args.positionals[0]}: models are named by --only; --help says more`);
  const budgetSeconds = secondsOption(args, 'budget', 60);
  const rounds = wholeNumber(args, 'rounds', 15);
  const json = jsonFile(args);
  const driver = args.options['device'] ?? 'local-sync';
  const place = await openWorkplace();
  const tools = openTools(place, { driver, budgetSeconds, folder: args.options['folder'] });
  const models = await exportModels(args.options['only']?.split(',') ?? null);
  const about = {
    version: 1,
    date: new Date().toISOString(),
    machine: describeMachine(driver),
    versions: { iree: place.description, node: process.version },
    options: { budgetSeconds, rounds, flags: HOST_FLAGS },
  };

  const results: Result[] = [];
  const nameWidth = Math.max(...models.map(({ name }) => name.length));
  console.log(growingRow(HEADER, nameWidth, WIDTHS));
  for (const [i, model] of models.entries()) {
    say(`${model.name} (${i + 1} of ${models.length}) ...`);
    const folder = join(place.folder, `model${i}`);
    mkdirSync(folder);
    try {
      const result = await measure(model, folder, rounds, tools);
      results.push(result);
      console.log([growingRow(cells(result), nameWidth, WIDTHS), ...leftLines(result)].join('\n'));
    } finally {
      rmSync(folder, { recursive: true });
    }
    if (json !== undefined)
      writeFileSync(json, `${JSON.stringify({ ...about, summary: summarise(results), results }, null, 2)}\n`);
  }
  console.log(`\n${summaryText(summarise(results))}`);
}

/** All compiling first: nothing is compiled while anything is timed. */
async function measure(model: Model, folder: string, rounds: number, tools: Tools): Promise<Result> {
  const { state, error, stock, tuned, sameCode, explanation } = await compileBoth(
    model.path,
    folder,
    HOST_FLAGS,
    tools,
  );
  const base = { model: model.name, state, sameCode, explanation };
  if (error !== null)
    return { ...base, reason: error, verdict: null, coverage: null, dispatches: [], agreements: [] };
  const sources = await textAt('executable-sources', model, folder, tools);
  const roots = contractionRoots(sources, await textAt('flow', model, folder, tools));
  const called = programSignature(readFileSync(model.path), (type) => type).find(
    ({ name }) => name === 'main',
  );
  if (called === undefined) throw new Error(`${model.path} has no function main`);
  const { device, benchmarkModule } = tools;
  const { inputs, run: flags } = model;
  const contest = { stock, tuned, function: called, inputs, flags, device, tools, folder };
  // Times of the same code are shown, and nothing is concluded from them.
  const extent = { pairs: sameCode ? 1 : rounds, seconds: TIMING_SECONDS };
  const verdict = await verifyProgram(contest, extent);
  const run = { benchmarkModule, device, functionName: 'main', inputs, flags };
  const effort = { repetitions: 1, minSeconds: 0.15, timeoutSeconds: TIMING_SECONDS };
  // Older runtimes do not say.
  const pairs = await inPairs(stock, tuned, { pairs: PAIRS, seconds: TIMING_SECONDS }, (module) =>
    timeDispatches(run, module, effort),
  ).catch(() => []);
  const times = [...(pairs[0]?.[0].dispatches ?? [])].map(([name, time]) => ({ name, ...time }));
  return {
    ...base,
    reason: verdict.reason,
    verdict,
    coverage: coverageOf(times, roots, explanation),
    agreements: explanation === null ? [] : agreementsOf(pairs, roots, explanation),
    dispatches: times.map((time) => ({ ...time, root: roots.get(time.name) ?? null })),
  };
}

/** What the compiler has made of a model at the end of a phase, as text without its weights. */
async function textAt(phase: string, { path }: Model, folder: string, { place }: Tools): Promise<Uint8Array> {
  const output = join(folder, `${phase}.mlir`);
  const flags = [...HOST_FLAGS, `--compile-to=${phase}`, ...ELIDED];
  await execa(place.compiler.executable, [...flags, path, '-o', output], { stdin: 'ignore' });
  return readFileSync(output);
}

/** The same code is neither faster nor slower; null when there is no telling. */
function gainOf({ verdict, sameCode }: Result): number | null {
  if (verdict?.equal !== true) return null;
  return sameCode ? 1 : (verdict.timing?.ratio ?? null);
}

const HEADER = [
  ...['model', 'stock', 'tuned', 'gain', 'outputs'],
  ...['contractions', 'decided', 'applied', 'route', 'tuning', ''],
];
const WIDTHS = [0, 8, 8, 19, 9, 12, 7, 7, 10, 8, 0];

function cells(result: Result): string[] {
  const { model, verdict, sameCode, coverage, explanation, state } = result;
  const [stock = NaN, tuned = NaN] = verdict?.timing?.seconds ?? [];
  return [
    model,
    formatSeconds(stock),
    formatSeconds(tuned),
    gainText(verdict, sameCode),
    either(verdict?.equal, 'equal', 'DIFFERENT'),
    percent(coverage?.contractions),
    percent(coverage?.decided),
    percent(coverage?.applied),
    explanation?.route ?? '-',
    // None is not worth a number.
    formatSeconds(explanation?.seconds.tuning || NaN),
    [state === 'compiled by both' ? null : state, result.reason].filter((text) => text !== null).join(': '),
  ];
}

function gainText(verdict: Verdict | null, sameCode: boolean): string {
  if (sameCode) return 'same code';
  if (verdict === null || verdict.timing === null) return '-';
  const { ratio, low, high } = verdict.timing;
  return `${ratio.toFixed(2)}x [${low.toFixed(2)}, ${high.toFixed(2)}]`;
}

const percent = (share: number | undefined) => (share === undefined ? '-' : `${(100 * share).toFixed(0)}%`);

/** Why contractions are not tuned, a line for each reason. */
const leftLines = ({ coverage }: Result) =>
  (coverage?.left ?? [])
    .filter(({ share }) => share >= LEAST_SHARE)
    .map(
      ({ reason, share, dispatches }) =>
        `  left ${percent(share)}: ${reason} (${counted(dispatches.length, 'dispatch', 'dispatches')}, ${dispatches[0]!})`,
    );

interface Summary {
  readonly models: number;
  readonly stockDoesNotCompile: readonly string[];
  readonly broken: readonly string[];
  readonly wrong: readonly string[];
  /** Models of which both programs are the same bytes: nothing was found for them, or not in time. */
  readonly sameCode: readonly string[];
  /** Models with a gain. */
  readonly rated: number;
  /** Null without any gain. */
  readonly geometricMean: number | null;
  readonly worst: { readonly model: string; readonly gain: number } | null;
  /** Injected workloads of which the program says something, and those of them whose record is right within 5%. */
  readonly compared: number;
  readonly right: number;
}

function summarise(results: readonly Result[]): Summary {
  const namesOf = (some: readonly Result[]) => some.map(({ model }) => model);
  const rated = results
    .flatMap((result) => {
      const gain = gainOf(result);
      return gain === null ? [] : [{ model: result.model, gain }];
    })
    .sort((a, b) => a.gain - b.gain);
  const agreements = results.flatMap((result) => result.agreements);
  return {
    compared: agreements.length,
    right: agreements.filter(({ recorded, inProgram }) => Math.abs(inProgram / recorded - 1) <= 0.05).length,
    models: results.length,
    stockDoesNotCompile: namesOf(results.filter(({ state }) => state === 'stock does not compile')),
    broken: namesOf(results.filter(({ state }) => state === 'broken')),
    wrong: namesOf(results.filter(({ verdict }) => verdict?.equal === false)),
    sameCode: namesOf(results.filter(({ sameCode }) => sameCode)),
    rated: rated.length,
    geometricMean: rated.length === 0 ? null : geometricMean(rated.map(({ gain }) => gain)),
    worst: rated[0] ?? null,
  };
}

function summaryText(summary: Summary): string {
  const { worst, geometricMean: mean } = summary;
  const list = (names: readonly string[]) => (names.length === 0 ? '0' : names.join(', '));
  return [
    `models                  ${summary.models}`,
    `stock does not compile  ${list(summary.stockDoesNotCompile)}`,
    `broken by us            ${list(summary.broken)}`,
    `wrong                   ${list(summary.wrong)}`,
    `same code               ${list(summary.sameCode)}`,
    `geometric mean          ${mean === null ? '-' : `${mean.toFixed(3)}x`} over ${counted(summary.rated, 'model')}`,
    `records right in 5%     ${summary.right} of ${summary.compared}`,
    `worst                   ${worst === null ? '-' : `${worst.gain.toFixed(3)}x, ${worst.model}`}`,
  ].join('\n');
}

await run('bench:models', main);
