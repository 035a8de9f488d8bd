// `iree-tuned populate`: tuning ahead of any build, for models, sweeps and lists of shapes, and what builds have missed.
import { readFileSync, rmSync } from 'node:fs';
import type { Command as Program } from 'commander';
import { findCompiler, findMeasuringTools } from '../compiler/index.ts';
import { splitArguments } from '../compiler/response.ts';
import type { Knowledge } from '../populate/ask.ts';
import {
  describeDone,
  describePlan,
  describeResults,
  describeStart,
  populationJson,
} from '../populate/describe.ts';
import { executorHere } from '../populate/executor.ts';
import { modelFiles } from '../populate/models.ts';
import type { Plan } from '../populate/plan.ts';
import { MOST_SECONDS_EACH, populate, type Executor, type Populated } from '../populate/populate.ts';
import { planRequest, type PopulationRequest } from '../populate/request.ts';
import { parseShapeList } from '../populate/shape-list.ts';
import { populationSite, type PopulationSite } from '../populate/site.ts';
import { shapesOfSweep, type SweepText } from '../populate/sweep.ts';
import { lineDisplay } from '../report/progress.ts';
import { searchInWords } from '../report/sentences.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { formatDuration } from '../system/format.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import { messageOf } from '../system/tell.ts';
import { UserError } from '../system/user-error.ts';
import { likelyCompilesAtOnce } from '../tuning/tune-workloads.ts';
import type { TuningProgress } from '../tuning/workload-search.ts';
import { openDatabase, openToLook, surroundingsOf, UsageError, withTarget } from './context.ts';

interface Options extends SweepText {
  readonly shapes?: readonly string[];
  readonly fromMisses?: boolean;
  readonly flags?: readonly string[];
  readonly dryRun?: boolean;
  readonly budget?: string;
  readonly jobs?: string;
  readonly json?: boolean;
}

const SWEPT = ['op', 'm', 'n', 'k', 'batch', 'dtype', 'rhsConstant'] as const;

/** How an option is written. */
const optionName = (option: keyof SweepText) => `--${option === 'rhsConstant' ? 'rhs-constant' : option}`;

export async function populateDatabase(
  given: readonly string[],
  options: Options,
  program: Program,
): Promise<void> {
  // What follows `--` are flags; the parser makes one list of both.
  const behind = process.argv.indexOf('--');
  const common = behind < 0 ? [] : process.argv.slice(behind + 1);
  const request = requestOf(given.slice(0, given.length - common.length), options);
  const budgetSeconds = options.budget === undefined ? undefined : parseDuration(options.budget);
  const jobs = options.jobs === undefined ? likelyCompilesAtOnce() : parseJobs(options.jobs);
  const surroundings = surroundingsOf(program);
  const isDry = options.dryRun === true;
  checkSettings(surroundings, isDry);
  const folder = makeScratchFolder(surroundings.cacheDirectory, 'populate');
  if (folder === null)
    throw new UsageError(`nothing can be written to the cache folder ${surroundings.cacheDirectory}`);
  try {
    const sites = await sitesOf(common, options.flags ?? [], folder, surroundings);
    const store = isDry ? (await openToLook(surroundings)).store : await openDatabase(surroundings);
    try {
      const tools = toolsOf(surroundings);
      const secondsEach = Math.min(MOST_SECONDS_EACH, budgetSeconds ?? Infinity);
      const knowledge: Knowledge = { store, surroundings, secondsEach, tools: Object.values(tools ?? {}) };
      const plan = await planRequest(request, sites, knowledge);
      if (isDry) {
        if (options.json === true) console.log(JSON.stringify(populationJson(plan, null, sites), null, 2));
        else console.log(describePlan(plan, sites, budgetSeconds));
        return;
      }
      const results = await carryOut(plan, budgetSeconds, jobs, (onProgress) =>
        executorHere(sites, knowledge, { tools, folder, jobs, onProgress }),
      );
      if (options.json === true) console.log(JSON.stringify(populationJson(plan, results, sites), null, 2));
      else console.log(describeResults(results, plan, sites));
      if (results.some(({ result }) => result === null)) process.exitCode = 1;
    } finally {
      store.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws UserError for what is not understood, or when nothing is asked for */
function requestOf(inputs: readonly string[], options: Options): PopulationRequest {
  const listed = (options.shapes ?? []).flatMap((file) => parseShapeList(readList(file), file));
  const isSwept = SWEPT.some((option) => options[option] !== undefined);
  const swept = isSwept ? shapesOfSweep(options, optionName).map((shape) => ({ shape, where: 'sweep' })) : [];
  const fromMisses = options.fromMisses === true;
  const models = modelFiles(inputs);
  const shapes = [...listed, ...swept];
  if (models.length === 0 && shapes.length === 0 && !fromMisses)
    throw new UsageError(
      'there is nothing to populate with: give models, --shapes FILE, a sweep (--m 64:1024:64 --n ... --k ...) or --from-misses',
    );
  return { models, shapes, fromMisses };
}

function readList(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UserError(`${file} cannot be read: ${messageOf(error)}`);
  }
}

/** Seconds of `90`, `90s`, `15m` or `8h`. */
function parseDuration(text: string): number {
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)(s|m|h)?$/.exec(text) ?? [];
  const seconds = Number(number) * { s: 1, m: 60, h: 3600 }[unit as 's' | 'm' | 'h'];
  if (!(seconds > 0)) throw new UsageError(`--budget ${text}: it takes seconds, or a time such as 15m or 8h`);
  return seconds;
}

function parseJobs(text: string): number {
  const jobs = Number(text);
  if (!Number.isSafeInteger(jobs) || jobs < 1)
    throw new UsageError(`--jobs ${text}: it takes a whole number from 1 up`);
  return jobs;
}

function checkSettings({ settings }: Surroundings, isDry: boolean): void {
  if (settings.forDevice !== undefined)
    throw new UsageError(
      `populate measures on this machine, and for-device is ${settings.forDevice}: leave it out here, or run this there`,
    );
  if (settings.readonly && !isDry)
    throw new UsageError('the database is set to be read only: populate writes it (--dry-run does not)');
}

/** A site for each set of flags, beside those that all of them have. */
async function sitesOf(
  common: readonly string[],
  each: readonly string[],
  folder: string,
  surroundings: Surroundings,
): Promise<PopulationSite[]> {
  const sets = each.length === 0 ? [''] : each;
  const sites: PopulationSite[] = [];
  for (const text of sets) {
    const flags = [...common, ...splitArguments(text)];
    const name = flags.length === 0 ? 'this machine' : flags.join(' ');
    sites.push(await populationSite(withTarget(flags), name, folder, surroundings));
  }
  return sites;
}

function toolsOf({ env, settings, root, cacheDirectory }: Surroundings) {
  const compiler = findCompiler(env, { compiler: settings.compiler, root, cacheDirectory });
  return findMeasuringTools(compiler, env, { root, cacheDirectory });
}

/** Carries a plan out, tells how far it is, and ends when it is told to. */
async function carryOut(
  plan: Plan,
  budgetSeconds: number | undefined,
  jobs: number,
  executorFor: (onProgress: (progress: TuningProgress) => void) => Executor,
): Promise<Populated[]> {
  const clock = () => performance.now() / 1000;
  const begun = clock();
  const total = plan.todo.length;
  let done = 0;
  let measured = 0;
  const secondsLeft = () => {
    // As long as little was measured, what was measured before says more.
    const each = measured < 3 ? plan.secondsEach : (clock() - begun) / measured;
    const budgetLeft = (budgetSeconds ?? Infinity) - (clock() - begun);
    return Math.max(0, Math.min(budgetLeft, each * (total - done)));
  };
  const display = lineDisplay();
  const say = (text: string) => {
    display.clear();
    process.stderr.write(`iree-tuned: ${text}\n`);
  };
  // The first Ctrl-C ends the search and decides with what is known; the second ends everything. Trials are kept.
  const [finishEarly, abort] = [new AbortController(), new AbortController()];
  const interrupt = () => {
    if (!finishEarly.signal.aborted)
      say('ending: what is measured is decided, nothing more is begun; once more ends at once');
    (finishEarly.signal.aborted ? abort : finishEarly).abort();
  };
  process.on('SIGINT', interrupt);
  if (total > 0) say(describeStart(plan, budgetSeconds));
  const executor = executorFor((progress) => {
    display.show(
      `iree-tuned: ${done + 1} of ${total}, about ${formatDuration(Math.ceil(secondsLeft()))} left; ${searchInWords(progress)}`,
    );
  });
  try {
    return await populate(plan, executor, {
      ...{ budgetSeconds, atOnce: jobs, finishEarly: finishEarly.signal, signal: abort.signal, clock },
      onDone: (one) => {
        done++;
        if (!one.wasKnown) measured++;
        if (!finishEarly.signal.aborted || one.result !== null)
          say(describeDone(one, done, total, secondsLeft()));
      },
    });
  } finally {
    display.clear();
    process.off('SIGINT', interrupt);
  }
}
