// Models of current architectures: their gains, and the share of their time that tuning covers.
import { inPairs, timeModule } from '../src/measure/compare-modules.ts';
import type { Verdict } from '../src/program/verify.ts';
import { verifyProgram } from './shared/verify-program.ts';
import type { Explanation } from '../src/report/explain.ts';
import { formatSeconds } from '../src/system/format.ts';
import { agreementsOf, type Agreement } from './models/agreement.ts';
import { exportModels, type Model } from './models/exported.ts';
import {
  counted,
  jsonFile,
  readArguments,
  run,
  secondsOption,
  UsageError,
  wholeNumber,
} from './shared/arguments.ts';
import { namedTimes, percent, settledShare, shareLines, type DispatchTime } from './shared/dispatch-time.ts';
import { measureEach } from './shared/each-model.ts';
import { gainOf, gainText, listed, ratingOf, ratioText, worstText, type Rating } from './shared/gains.ts';
import { mainOf, rootsOf } from './shared/program.ts';
import { either, endingText, tuningText } from './shared/rows.ts';
import { compileBoth, openTools, type State, type Tools } from './shared/stock-and-tuned.ts';
import { describeMachine, HOST_FLAGS, openWorkplace } from './shared/workplace.ts';

const USAGE = `usage: npm run bench:models -- [--only NAME,NAME] [--budget SECONDS] [--rounds N] [--device DRIVER]
                            [--folder FOLDER] [--json FILE]

  --only    these models (default: all)
  --budget  seconds of tuning per model (default 60)
  --rounds  most rounds of timing; slow models get fewer (default 15)
  --device  local-sync for one thread (default), or local-task for all threads
  --folder  keep the tuning database and the cache in FOLDER (default: a temporary folder)
  --json    also write all values to FILE, after each model`;

/** About the time of one model's comparison, and the time limit of one call. */
const TIMING_SECONDS = 60;

/** Pairs of processes that time the dispatches of both programs. */
const PAIRS = 15;

interface Result {
  readonly model: string;
  readonly state: State;
  /** Why there are no results or no times, or the first difference of results. */
  readonly reason: string | null;
  readonly verdict: Verdict | null;
  readonly sameCode: boolean;
  readonly agreements: readonly Agreement[];
  /** Dispatches of the stock program. The workload is null without a contraction. */
  readonly dispatches: readonly (DispatchTime & { readonly workload: string | null })[];
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

  const table = {
    ...{ header: HEADER, widths: WIDTHS, cells, summarise },
    linesBelow: ({ explanation }: Result) => shareLines(explanation),
  };
  const results = await measureEach(models, { folder: place.folder, json, about }, table, (model, folder) =>
    measure(model, folder, rounds, tools),
  );
  console.log(`\n${summaryText(summarise(results))}`);
}

/** Compiles everything first, because a compile would disturb the timing. */
async function measure(model: Model, folder: string, rounds: number, tools: Tools): Promise<Result> {
  const { state, error, stock, tuned, sameCode, explanation } = await compileBoth(
    model.path,
    folder,
    HOST_FLAGS,
    tools,
  );
  const base = { model: model.name, state, sameCode, explanation };
  if (error !== null) return { ...base, reason: error, verdict: null, dispatches: [], agreements: [] };
  const roots = await rootsOf(model.path, folder, tools.place);
  const called = mainOf(model.path);
  const { device } = tools;
  const { inputs, run: flags } = model;
  const contest = { stock, tuned, function: called, inputs, flags, device, tools, folder };
  // The times of the same code are only shown, so one pair is enough.
  const extent = { pairs: sameCode ? 1 : rounds, seconds: TIMING_SECONDS };
  const verdict = await verifyProgram(contest, extent);
  const effort = { repetitions: 1, minSeconds: 0.15, timeoutSeconds: TIMING_SECONDS };
  // Older runtimes have no statistics of dispatches.
  const pairs = await inPairs(stock, tuned, { pairs: PAIRS, seconds: TIMING_SECONDS }, (module) =>
    timeModule(contest, module, effort, true),
  ).catch(() => []);
  const times = namedTimes(pairs[0]?.[0].dispatches ?? new Map());
  return {
    ...base,
    reason: verdict.reason,
    verdict,
    agreements: explanation === null ? [] : agreementsOf(pairs, roots, explanation),
    dispatches: times.map((time) => ({ ...time, workload: roots.get(time.name) ?? null })),
  };
}

const HEADER = [...['model', 'stock', 'tuned', 'gain', 'outputs'], ...['decided', 'route', 'tuning', '']];
const WIDTHS = [0, 8, 8, 19, 9, 7, 10, 8, 0];

function cells(result: Result): string[] {
  const { model, verdict, explanation } = result;
  const [stock = NaN, tuned = NaN] = verdict?.timing?.seconds ?? [];
  return [
    model,
    formatSeconds(stock),
    formatSeconds(tuned),
    gainText(result),
    either(verdict?.equal, 'equal', 'DIFFERENT'),
    percent(settledShare(explanation)),
    explanation?.route ?? '-',
    tuningText(explanation),
    endingText(result),
  ];
}

interface Summary extends Rating {
  readonly models: number;
  readonly stockDoesNotCompile: readonly string[];
  readonly broken: readonly string[];
  readonly wrong: readonly string[];
  /** Models whose tuned module has the same bytes as stock's. */
  readonly sameCode: readonly string[];
  /** Injected workloads with times in the program, and the number whose record is right within 5%. */
  readonly compared: number;
  readonly right: number;
}

function summarise(results: readonly Result[]): Summary {
  const namesOf = (some: readonly Result[]) => some.map(({ model }) => model);
  const agreements = results.flatMap((result) => result.agreements);
  return {
    compared: agreements.length,
    right: agreements.filter(({ recorded, inProgram }) => Math.abs(inProgram / recorded - 1) <= 0.05).length,
    models: results.length,
    stockDoesNotCompile: namesOf(results.filter(({ state }) => state === 'stock does not compile')),
    broken: namesOf(results.filter(({ state }) => state === 'broken')),
    wrong: namesOf(results.filter(({ verdict }) => verdict?.equal === false)),
    sameCode: namesOf(results.filter(({ sameCode }) => sameCode)),
    ...ratingOf(results.map((result) => ({ model: result.model, gain: gainOf(result) }))),
  };
}

function summaryText(summary: Summary): string {
  return [
    `models                  ${summary.models}`,
    `stock does not compile  ${listed(summary.stockDoesNotCompile)}`,
    `broken by us            ${listed(summary.broken)}`,
    `wrong                   ${listed(summary.wrong)}`,
    `same code               ${listed(summary.sameCode)}`,
    `geometric mean          ${ratioText(summary.geometricMean)} over ${counted(summary.rated, 'model')}`,
    `records right in 5%     ${summary.right} of ${summary.compared}`,
    `worst                   ${worstText(summary)}`,
  ].join('\n');
}

await run('bench:models', main);
