// `iree-tuned tune` of several inputs, shapes, misses or targets.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findMeasuringTools } from '../../compiler/find.ts';
import { splitArguments } from '../../compiler/response.ts';
import type { Knowledge } from '../../populate/ask.ts';
import { describePlan, describeResults, NO_PROGRAMS, populationJson } from '../../populate/describe.ts';
import { modelFiles } from '../../populate/models.ts';
import { MOST_SECONDS_EACH } from '../../populate/populate.ts';
import { nameOf, programText } from '../../populate/program-shape.ts';
import { planRequest, type PopulationRequest } from '../../populate/request.ts';
import { isSwept, optionFlag } from '../../populate/ranges.ts';
import { parseShapeList } from '../../populate/shape-list.ts';
import { populationSite, type PopulationSite } from '../../populate/site.ts';
import { readSweep } from '../../populate/sweep.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import { openStore } from '../../store/open.ts';
import { withScratchFolder } from '../../system/scratch.ts';
import { UserError } from '../../system/user-error.ts';
import type { CliCommand } from '../command.ts';
import { compilerOf, openDatabase, openIfThere, surroundingsOf, UsageError, withTarget } from '../context.ts';
import { readText } from '../files.ts';
import { readSpaceFile, restricted } from '../search-space.ts';
import { atFleet, catchUp, followFleet } from './fleet.ts';
import { tuneHere } from './here.ts';
import type { TuneOptions } from './tune.ts';

/** Options that limit a search on this machine. */
const OF_SEARCHES_HERE = ['jobs', 'searchSpace', 'trials', 'again', 'verifyProgram'] as const;

/** Plans the work, prints the plan or carries it out, and prints the results. Ends with 1 where a workload is left without one. */
export async function tuneMany(
  inputs: readonly string[],
  options: TuneOptions,
  command: CliCommand,
): Promise<void> {
  const requestIn = requestOf(inputs, options);
  const surroundings = surroundingsOf(command);
  const budgetSeconds = options.budget === undefined ? undefined : surroundings.settings.budgetSeconds;
  const isDry = options.dryRun === true;
  const isForFleet = options.fleet === true;
  const excluded = OF_SEARCHES_HERE.filter((name) => isForFleet && options[name] !== undefined);
  if (excluded.length > 0)
    throw new UsageError(
      `${excluded.map(optionFlag).join(', ')}: workers ignore these options: remove them, or remove --fleet`,
    );
  checkSettings(surroundings, isDry, isForFleet);
  await withScratchFolder(surroundings.cacheDirectory, 'tune', async (folder) => {
    const here = await sitesOf(command.flags, options.flags ?? [''], folder, surroundings);
    if (isForFleet && !isDry) await catchUp(here, surroundings);
    const store = isDry
      ? ((await openIfThere(surroundings)) ?? (await openStore(join(folder, 'empty.db'))))
      : await openDatabase(surroundings);
    try {
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
      const request = requestIn(folder);
      const first = await planRequest(request, sites, knowledge);
      if (isDry) {
        command.print(populationJson(first, null, NO_PROGRAMS, sites), () =>
          describePlan(first, sites, budgetSeconds),
        );
        return;
      }
      const run = { request, sites, knowledge, budgetSeconds, folder };
      const { plan, results, found } = isForFleet
        ? // Workers tune workloads only, so programs have no results.
          { plan: first, results: await followFleet(first, run), found: NO_PROGRAMS }
        : await tuneHere(first, run, { tools, written, ...options });
      command.print(populationJson(plan, results, found, sites), () =>
        describeResults(results, plan, found, sites),
      );
      if (results.some(({ result }) => result === null)) process.exitCode = 1;
    } finally {
      store.close();
    }
  });
}

/**
 * Reads the request of the command line. The result writes the programs of a sweep into a folder.
 * @throws UserError for an invalid option, or without any work
 */
function requestOf(inputs: readonly string[], options: TuneOptions): (folder: string) => PopulationRequest {
  const listed = (options.shapes ?? []).flatMap((file) => parseShapeList(readText(file), file));
  const sweep = isSwept(options) ? sweepOf(options) : { shapes: [], programs: [] };
  const fromMisses = options.fromMisses === true;
  const models = modelFiles(inputs);
  const shapes = [...listed, ...sweep.shapes.map((shape) => ({ shape, where: 'sweep' }))];
  if (models.length + shapes.length + sweep.programs.length === 0 && !fromMisses)
    throw new UsageError(
      'nothing to tune: name models, --shapes FILE, a sweep (--m 64:1024:64 --n ... --k ...) or --from-misses',
    );
  return (folder) => {
    const written = sweep.programs.map((shape) => {
      const source = nameOf(shape);
      const path = join(folder, `${source}.mlir`);
      writeFileSync(path, programText(shape));
      return { path, source };
    });
    const programs = [...models.map((path) => ({ path, source: path })), ...written];
    return { programs, shapes, fromMisses };
  };
}

function sweepOf(options: TuneOptions) {
  try {
    return readSweep(options);
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
  folder: string,
  surroundings: Surroundings,
): Promise<PopulationSite[]> =>
  Array.fromAsync(each, (text) => {
    const flags = [...common, ...splitArguments(text)];
    const name = flags.length === 0 ? 'this machine' : flags.join(' ');
    return populationSite(withTarget(flags), name, folder, surroundings);
  });
