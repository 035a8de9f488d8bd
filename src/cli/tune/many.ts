// `iree-tuned tune` of several inputs, shapes, misses or targets.
import { globSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { withBases } from '../../base/open.ts';
import { findMeasuringTools } from '../../compiler/find.ts';
import { splitArguments } from '../../compiler/response.ts';
import { LONGEST_JOB_SECONDS } from '../../fleet/job.ts';
import { describePlan, describeResults, populationJson } from '../../populate/describe.ts';
import { MOST_SECONDS_EACH } from '../../populate/populate.ts';
import { type Knowledge, planRequest, type PopulationRequest } from '../../populate/request.ts';
import { isProgramOp, programText, type Shape, shapeKey, shapeName } from '../../populate/shape.ts';
import { type Shard, unitsOfShard } from '../../populate/plan.ts';
import { compilerOf, populationSite, type PopulationSite } from '../../populate/site.ts';
import { isSwept, optionFlag, parseShapeList, shapesOf } from '../../populate/sweep.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import { openStore } from '../../store/open.ts';
import { placeOf } from '../../store/subject.ts';
import { withScratchFolder } from '../../system/scratch.ts';
import { UserError } from '../../system/user-error.ts';
import type { CliCommand } from '../command.ts';
import { openDatabase, openIfThere } from '../database.ts';
import { UsageError } from '../failure.ts';
import { readText } from '../../system/user-files.ts';
import { withTarget } from '../input.ts';
import { warn } from '../output.ts';
import { readSpaceFile, restricted } from '../search.ts';
import { describeRun } from '../team/queue.ts';
import { modelsFolder, requireBase } from '../team/server.ts';
import { atFleet, catchUp, runOnFleet, splitForFleet } from './fleet.ts';
import { tuneHere } from './here.ts';
import type { TuneOptions } from './tune.ts';

/** Options that limit a search on this machine. */
const OF_SEARCHES_HERE = ['jobs', 'searchSpace', 'trials', 'again', 'verifyProgram'] as const;

/** Options that need `--fleet`. */
export const OF_FLEET = ['models', 'priority', 'detach'] as const;

/** Plans the work, prints the plan or carries it out, and prints the results. Ends with 1 where a workload is left without one. */
export async function tuneMany(
  inputs: readonly string[],
  options: TuneOptions,
  command: CliCommand,
): Promise<void> {
  const requestIn = requestOf(inputs, options);
  const surroundings = command.surroundings();
  const budgetSeconds = options.budget === undefined ? undefined : surroundings.settings.budgetSeconds;
  const isDry = options.dryRun === true;
  const isForFleet = options.fleet === true;
  const excluded = OF_SEARCHES_HERE.filter((name) => isForFleet && options[name] !== undefined);
  if (excluded.length > 0)
    throw new UsageError(
      `${excluded.map(optionFlag).join(', ')}: workers ignore these options: remove them, or remove --fleet`,
    );
  const ofFleet = OF_FLEET.filter((name) => !isForFleet && options[name] !== undefined);
  if (ofFleet.length > 0) throw new UsageError(`${ofFleet.map(optionFlag).join(', ')}: add --fleet`);
  if (
    isForFleet &&
    budgetSeconds !== undefined &&
    !(budgetSeconds >= 1 && budgetSeconds <= LONGEST_JOB_SECONDS)
  )
    throw new UsageError('--budget with --fleet is the time of each job: 1s to 6h');
  checkSettings(surroundings, isDry, isForFleet);
  await withScratchFolder(surroundings.cacheDirectory, 'tune', async (folder) => {
    const here = await sitesOf(command.flags, options.flags ?? [''], surroundings);
    if (isForFleet && !isDry) {
      requireBase(surroundings);
      await catchUp(
        here.map(({ site }) => site),
        surroundings,
      );
    }
    const own = isDry
      ? ((await openIfThere(surroundings)) ?? (await openStore(join(folder, 'empty.db'))))
      : await openDatabase(surroundings);
    const places = here.map(({ site }) => placeOf(site));
    using store = await withBases(own, places, surroundings);
    const sites = isForFleet ? here.map((site) => atFleet(site, store, surroundings)) : here;
    const tools = findMeasuringTools(compilerOf(surroundings), surroundings.env, surroundings);
    const secondsEach = Math.min(MOST_SECONDS_EACH, budgetSeconds ?? Infinity);
    const written = readSpaceFile(options.searchSpace);
    // An invalid search space fails before the compiler runs.
    for (const { site } of sites) restricted([], site, written);
    const knowledge: Knowledge = {
      ...{ store, surroundings, secondsEach, tools: Object.values(tools ?? {}) },
      isRestricted: written !== null,
      again: options.again === true,
    };
    const all = requestIn(folder);
    // A dry run shows the work within programs.
    const models = isForFleet && !isDry ? modelsFolder(options.models, surroundings) : null;
    const { whole, rest: request } = splitForFleet(all, models);
    const run = { request, sites, knowledge, budgetSeconds, folder };
    const first = await planRequest(run);
    if (isDry) {
      command.print(populationJson(first, null, sites), () => describePlan(first, sites, budgetSeconds));
      return;
    }
    if (isForFleet) {
      const isDetached = options.detach === true;
      const { results, runs } = await runOnFleet(first, whole, run, options);
      command.print({ ...populationJson(first, results, sites), runs }, () =>
        [
          ...(results === null || (results.length === 0 && runs.length > 0)
            ? []
            : [describeResults(results, first, sites)]),
          ...(whole.length === 0 && !isDetached ? [] : runs.map(describeRun)),
        ].join('\n\n'),
      );
      const isDone =
        results?.every(({ result }) => result !== null) !== false &&
        (isDetached || runs.every(({ jobs }) => jobs.every(({ state }) => state === 'done')));
      if (!isDone) process.exitCode = 1;
      return;
    }
    const { plan, results, found } = await tuneHere(first, run, { tools, written, ...options });
    command.print(populationJson(plan, results, sites, found), () =>
      describeResults(results, plan, sites, found),
    );
    if (results.some(({ result }) => result === null)) process.exitCode = 1;
  });
}

/**
 * Reads the request of the command line. The result writes the programs of a sweep into a folder.
 * @throws UserError for an invalid option, or without any work
 */
function requestOf(inputs: readonly string[], options: TuneOptions): (folder: string) => PopulationRequest {
  const listed = (options.shapes ?? []).flatMap((file) => parseShapeList(readText(file), file));
  // Each model once.
  const wanted = [
    ...new Set(inputs.flatMap(filesOf)),
    ...listed,
    ...(isSwept(options) ? sweepOf(options) : []),
  ];
  const fromMisses = options.fromMisses === true;
  if (wanted.length === 0 && !fromMisses)
    throw new UsageError(
      'nothing to tune: name models, --shapes FILE, a sweep (--m 64:1024:64 --n ... --k ...) or --from-misses',
    );
  const own = options.shard === undefined ? wanted : ownOf(wanted, options.shard, fromMisses);
  const models = own.filter((one) => typeof one === 'string');
  const shapes = own.filter((one) => typeof one !== 'string');
  return (folder) => {
    const [alone, inProgram] = [false, true].map((is) => shapes.filter(({ op }) => isProgramOp(op) === is));
    const written = inProgram!.map((shape) => {
      const source = shapeName(shape);
      const path = join(folder, `${source}.mlir`);
      writeFileSync(path, programText(shape));
      return { path, source };
    });
    const programs = [...models.map((path) => ({ path, source: path })), ...written];
    return { programs, shapes: alone!, fromMisses };
  };
}

/** The models, by their paths, and the shapes of a shard. */
function ownOf(wanted: readonly (string | Shape)[], shard: Shard, fromMisses: boolean): (string | Shape)[] {
  if (fromMisses)
    throw new UsageError('--shard divides models and shapes, no misses: remove --shard or --from-misses');
  const own = unitsOfShard(wanted, (one) => (typeof one === 'string' ? resolve(one) : shapeKey(one)), shard);
  warn(`shard ${shard.number}/${shard.count}: ${own.length} of ${wanted.length} models and shapes`);
  return own;
}

function sweepOf(options: TuneOptions): Shape[] {
  try {
    return shapesOf(options);
  } catch (error) {
    throw error instanceof UserError ? new UsageError(error.message) : error;
  }
}

function checkSettings({ settings }: Surroundings, isDry: boolean, isForFleet: boolean): void {
  if (settings.forDevice !== undefined && !isForFleet)
    throw new UsageError(
      `tune measures on this machine, and for-device is ${settings.forDevice}: unset for-device, run tune on that device, or add --fleet`,
    );
  if (settings.readonly && !isDry)
    throw new UsageError(
      'tune writes the database, and IREE_TUNED_READONLY is set: unset it, or add --dry-run',
    );
}

/** One site for each set of flags, added to the common flags. */
const sitesOf = (
  common: readonly string[],
  each: readonly string[],
  surroundings: Surroundings,
): Promise<PopulationSite[]> =>
  Array.fromAsync(each, (text) => {
    const flags = [...common, ...splitArguments(text)];
    const name = flags.length === 0 ? 'this machine' : flags.join(' ');
    return populationSite(withTarget(flags), name, surroundings);
  });

/** File names of MLIR text, MLIR bytecode and ONNX models. */
const MODEL = /\.(?:mlir|mlirbc|bc|onnx)$/;

/**
 * The files of a path: the file itself, all models below a folder, or the matches of a pattern.
 * @throws UserError for a path without a file
 */
function filesOf(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() === true) return [path];
  const found =
    stats?.isDirectory() === true ? modelsBelow(path) : /[*?[{]/.test(path) ? globSync(path) : null;
  if (found === null) throw new UserError(`${path}: there is no such file or folder`);
  if (found.length === 0)
    throw new UserError(`${path}: no model found: models end in .mlir, .mlirbc, .bc or .onnx`);
  return found.toSorted();
}

const modelsBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && MODEL.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
