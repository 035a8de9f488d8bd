// `iree-tuned populate`: tuning ahead of any build, for models, sweeps and lists of shapes, and what builds have missed.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command as Program } from 'commander';
import { findCompiler, findMeasuringTools } from '../compiler/find.ts';
import { splitArguments } from '../compiler/response.ts';
import type { Knowledge } from '../populate/ask.ts';
import { describePlan, describeResults, NO_PROGRAMS, populationJson } from '../populate/describe.ts';
import { modelFiles } from '../populate/models.ts';
import { MOST_SECONDS_EACH } from '../populate/populate.ts';
import { nameOf, programText, type ProgramShape } from '../populate/program-shape.ts';
import { planRequest, type PopulationRequest, type RequestPlan } from '../populate/request.ts';
import { parseShapeList } from '../populate/shape-list.ts';
import { populationSite, type PopulationSite } from '../populate/site.ts';
import { readSweep, type SweepText } from '../populate/sweep.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { openStore } from '../store/open.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import { messageOf } from '../system/tell.ts';
import { UserError } from '../system/user-error.ts';
import { likelyCompilesAtOnce } from '../tuning/tune-workloads.ts';
import { runAutoScheduler } from './auto-scheduler.ts';
import { openDatabase, openIfThere, surroundingsOf, UsageError, withTarget } from './context.ts';
import { atFleet, catchUp, followFleet } from './follow-fleet.ts';
import { populateHere, type Run } from './populate-here.ts';
import { readSpaceFile, restrictedTo } from './search-space.ts';

interface Options extends SweepText {
  readonly shapes?: readonly string[];
  readonly fromMisses?: boolean;
  readonly flags?: readonly string[];
  readonly dryRun?: boolean;
  readonly budget?: string;
  readonly jobs?: string;
  readonly fleet?: boolean;
  readonly json?: boolean;
  readonly config?: string;
  readonly keep?: string;
  readonly searchSpace?: string;
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
  const inputs = given.slice(0, given.length - common.length);
  const budgetSeconds = options.budget === undefined ? undefined : parseDuration(options.budget);
  const { config, keep } = options;
  if (config !== undefined) {
    checkAlone(inputs, options);
    await runAutoScheduler({ path: config, flags: common, budgetSeconds, keep }, program);
    return;
  }
  if (keep !== undefined)
    throw new UsageError('--keep goes with --config; iree-tuned profile --keep is for everything else');
  const wanted = wantedOf(inputs, options);
  const jobs = options.jobs === undefined ? likelyCompilesAtOnce() : parseJobs(options.jobs);
  const surroundings = surroundingsOf(program);
  const isDry = options.dryRun === true;
  const isForFleet = options.fleet === true;
  if (isForFleet && options.jobs !== undefined)
    throw new UsageError(
      '--jobs is about this machine, and --fleet has others do the work: leave out one of them',
    );
  if (isForFleet && options.searchSpace !== undefined)
    throw new UsageError('workers search whole spaces: leave out --search-space or --fleet');
  checkSettings(surroundings, isDry, isForFleet);
  const folder = makeScratchFolder(surroundings.cacheDirectory, 'populate');
  if (folder === null)
    throw new UsageError(`nothing can be written to the cache folder ${surroundings.cacheDirectory}`);
  try {
    const here = await sitesOf(common, options.flags ?? [], folder, surroundings);
    if (isForFleet && !isDry) await catchUp(here, surroundings);
    const store = isDry
      ? ((await openIfThere(surroundings)) ?? (await openStore(join(folder, 'empty.db'))))
      : await openDatabase(surroundings);
    try {
      const sites = isForFleet ? here.map((site) => atFleet(site, store, surroundings)) : here;
      const tools = toolsOf(surroundings);
      const secondsEach = Math.min(MOST_SECONDS_EACH, budgetSeconds ?? Infinity);
      const written = options.searchSpace === undefined ? null : readSpaceFile(options.searchSpace);
      // Before anything is done for it.
      for (const { site } of sites) if (written !== null) restrictedTo([], site, written);
      const knowledge: Knowledge = {
        ...{ store, surroundings, secondsEach, tools: Object.values(tools ?? {}) },
        isRestricted: written !== null,
      };
      const request = requestOf(wanted, folder);
      const first = await planRequest(request, sites, knowledge);
      if (isDry) {
        if (options.json === true)
          console.log(JSON.stringify(populationJson(first, null, NO_PROGRAMS, sites), null, 2));
        else console.log(describePlan(first, sites, budgetSeconds));
        return;
      }
      const run = { request, sites, knowledge, budgetSeconds, folder };
      const { plan, results, found } = isForFleet
        ? // Workers of a fleet have no programs.
          { ...(await onFleet(first, run)), found: NO_PROGRAMS }
        : await populateHere(first, run, { tools, jobs, written });
      if (options.json === true)
        console.log(JSON.stringify(populationJson(plan, results, found, sites), null, 2));
      else console.log(describeResults(results, plan, found, sites));
      if (results.some(({ result }) => result === null)) process.exitCode = 1;
    } finally {
      store.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const onFleet = async (plan: RequestPlan, { sites, knowledge, budgetSeconds, folder }: Run) => ({
  plan,
  results: await followFleet(plan, budgetSeconds, sites, knowledge, folder),
});

/** What a settings file says it says alone. */
function checkAlone(inputs: readonly string[], options: Options): void {
  const more = [
    ...SWEPT,
    'shapes',
    'fromMisses',
    'flags',
    'dryRun',
    'jobs',
    'fleet',
    'json',
    'searchSpace',
  ] as const;
  const given = more.filter((name) => options[name] !== undefined);
  if (inputs.length > 0 || given.length > 0)
    throw new UsageError(
      '--config says what is searched, and how: --budget, --keep and flags of the compiler are all that goes with it',
    );
}

/** The command line's request, before programs of a sweep are written to files. */
interface Wanted extends Omit<PopulationRequest, 'programs'> {
  readonly models: readonly string[];
  readonly swept: readonly ProgramShape[];
}

/** @throws UserError for what is not understood, or when nothing is asked for */
function wantedOf(inputs: readonly string[], options: Options): Wanted {
  const listed = (options.shapes ?? []).flatMap((file) => parseShapeList(readList(file), file));
  const isSwept = SWEPT.some((option) => options[option] !== undefined);
  const sweep = isSwept ? readSweep(options, optionName) : { shapes: [], programs: [] };
  const fromMisses = options.fromMisses === true;
  const models = modelFiles(inputs);
  const shapes = [...listed, ...sweep.shapes.map((shape) => ({ shape, where: 'sweep' }))];
  const swept = sweep.programs;
  if (models.length + shapes.length + swept.length === 0 && !fromMisses)
    throw new UsageError(
      'there is nothing to populate with: give models, --shapes FILE, a sweep (--m 64:1024:64 --n ... --k ...) or --from-misses',
    );
  return { models, swept, shapes, fromMisses };
}

/** @param folder for generated programs */
function requestOf({ models, swept, shapes, fromMisses }: Wanted, folder: string): PopulationRequest {
  const written = swept.map((shape) => {
    const source = nameOf(shape);
    const path = join(folder, `${source}.mlir`);
    writeFileSync(path, programText(shape));
    return { path, source };
  });
  const programs = [...models.map((path) => ({ path, source: path })), ...written];
  return { programs, shapes, fromMisses };
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

function checkSettings({ settings }: Surroundings, isDry: boolean, isForFleet: boolean): void {
  if (settings.forDevice !== undefined && !isForFleet)
    throw new UsageError(
      `populate measures on this machine, and for-device is ${settings.forDevice}: leave it out here, run this there, or say --fleet`,
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
