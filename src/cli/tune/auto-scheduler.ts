// `iree-tuned tune --config`: runs a settings file of IREE's auto-scheduler.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { workloadsOf } from '../../decision/look-up.ts';
import { backendNamed } from '../../backend/index.ts';
import { knobsFor, readAutoScheduler, type AutoScheduler } from '../../compat/auto-scheduler.ts';
import { allOf, profiled, spaceSizes, timedCandidates, type Profiled } from '../../compat/measurement.ts';
import { splitKSlices } from '../../compat/operation.ts';
import { consoleBlock, resultBlock, writeReport } from '../../compat/report.ts';
import { compileOnly, keepCandidates } from '../../compat/candidates.ts';
import { subjectOf } from '../../store/subject.ts';
import { isExecutableFile } from '../../system/files.ts';
import { openDatabase } from '../database.ts';
import { atDevice, inspectInput } from '../input.ts';
import { readText } from '../../system/user-files.ts';
import { warn } from '../output.ts';
import type { CliCommand } from '../command.ts';
import { UserError } from '../../system/user-error.ts';
import { restricted, search } from '../search.ts';
import { needsProgram } from '../../workload/workload.ts';
import type { TuneOptions } from './tune.ts';

/** Limit of an operation without a budget: settings files limit the trials. */
const SECONDS_EACH = 600;

/**
 * Searches all contractions of the file's input, with and without records, and writes the auto-scheduler's files. Without a device for the
 * target, configurations are compiled and not measured. Paths in the file are relative to its folder.
 */
export async function runAutoScheduler(
  path: string,
  { budget, keep }: Pick<TuneOptions, 'budget' | 'keep'>,
  program: CliCommand,
): Promise<void> {
  const begun = new Date();
  const asked = readAutoScheduler(readText(path), path);
  const folder = dirname(resolve(path));
  const input = resolve(folder, asked.input);
  if (!existsSync(input)) throw new UserError(`${path}: input_file ${asked.input}: there is no ${input}`);
  const output = asked.output && resolve(folder, asked.output);
  if (output !== null && !existsSync(dirname(output)))
    throw new UserError(`${path}: output_file ${asked.output}: there is no folder ${dirname(output)}`);
  const compiler = compilerOf(asked, folder, program);
  const surroundings = program.surroundings(compiler === null ? {} : { compiler });
  const { command, inspected: read } = await inspectInput(input, program.flags, surroundings);
  using store = await openDatabase(surroundings);
  const inspected = atDevice(read, store, surroundings);
  const { site } = inspected;
  const backend = backendNamed(site.target.key);
  if (backend === undefined) throw new UserError(`${asked.input}: ${site.whyNotHere!.reason}`);
  const { knobs, unused } = knobsFor(
    asked,
    backend.userKnobs.map(({ name }) => name),
  );
  const have = unused.length === 1 ? 'has' : 'have';
  if (unused.length > 0) warn(`${path}: ${unused.join(', ')} ${have} no effect on ${backend.name}`);
  const all = workloadsOf(inspected.input, site, surroundings.settings);
  const alone = all.filter(({ workload }) => !needsProgram(workload));
  const works = restricted(alone, site, knobs);
  if (works.length === 0) throw new UserError(`${asked.input}: the input has no tunable contraction`);
  const spaces = spaceSizes(works, site);

  console.log(`${asked.tuner}: replaced by the strategy ${asked.strategy}; ${asked.trials} trials each.`);

  const prepared = new Date();
  const slices = splitKSlices(command.expanded);
  const isMeasured = site.whyNotHere === null;
  const failed: string[] = [];
  const measure = async (): Promise<readonly Profiled[]> => {
    const earlier = new Map(works.map((work) => [work.key, store.trials(subjectOf(work, site)).length]));
    const { settings } = surroundings;
    const budgetSeconds = budget === undefined ? SECONDS_EACH * works.length : settings.budgetSeconds;
    const { whyNot } = await search(
      works,
      store,
      { command, site, waitedSeconds: inspected.input.waitedSeconds },
      { ...surroundings, settings: { ...settings, budgetSeconds } },
      // The file asks for all trials, with or without gains.
      { strategy: asked.strategy, trials: asked.trials, patience: Infinity },
      new Set(works.map(({ key }) => key)),
    );
    const found = profiled(works, store, site, slices, earlier);
    for (const { operation, trials } of found)
      if (trials.length === 0) failed.push(`${operation.name} was not measured: ${whyNot.reason}`);
    return found;
  };
  const compile = async (why: string): Promise<readonly Profiled[]> => {
    warn(`configurations are compiled and not measured: ${why}`);
    const { found, refused } = await compileOnly(works, site, asked, slices, surroundings);
    for (const one of refused) warn(`left out, because it does not compile: ${one}`);
    for (const { operation, others } of found)
      if (others.length === 0) failed.push(`${operation.name}: no configuration compiles`);
    return found;
  };
  const found = await (isMeasured ? measure() : compile(site.whyNotHere.reason));
  const ended = new Date();

  const every = found.flatMap(allOf);
  for (const one of every) console.log(consoleBlock(one));
  const valid = isMeasured ? timedCandidates(every) : every.length - found.length;
  const run = { begun, prepared, ended, spaceSizes: spaces, valid };
  if (output !== null) writeReport(output, every, run);
  if (keep !== undefined) await keepCandidates(keep, every, site, surroundings);
  console.log(resultBlock(found, run));
  for (const problem of failed) warn(problem);
  if (failed.length > 0) process.exitCode = 1;
}

/** The compiler of the file's tools; null if a setting names one, or the file names none. */
function compilerOf({ tools }: AutoScheduler, folder: string, program: CliCommand): string | null {
  const isGiven = program.settings().settings.compiler !== undefined;
  if (tools === null || isGiven) return null;
  const compiler = join(resolve(folder, tools), 'iree-compile');
  if (isExecutableFile(compiler)) return compiler;
  warn(`iree_bin: there is no ${compiler}; another compiler is used`);
  return null;
}
