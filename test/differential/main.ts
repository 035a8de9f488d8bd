// `npm run test:differential`: compares builds with the wrapper and without it.
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import {
  jsonFile,
  readArguments,
  run,
  say,
  UsageError,
  wholeNumber,
  type Arguments,
} from '../../bench/shared/arguments.ts';
import { openWorkplace, root, wrapperEnvironment } from '../../bench/shared/workplace.ts';
import type { Compilers } from './comparison.ts';
import { listInputs } from './files.ts';
import { BUDGET_SECONDS, MODES, withBudget, type Mode } from './modes.ts';
import { killRunning } from './outcome.ts';
import { moduleComparison } from './programs.ts';
import { describe, type Report } from './report.ts';
import { compareAll } from './run.ts';
import { SHAPES } from './shapes.ts';

const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name).join(',');

const USAGE = `usage: npm run test:differential -- FILE_OR_FOLDER... [--shapes ${names(SHAPES)}]
                                [--modes ${names(MODES)}] [--budget N]
                                [--limit N] [--jobs N] [--json FILE]

  FILE_OR_FOLDER  .mlir and .mlirbc files, and folders with such files at any depth
  --shapes        forms of the command line (default: all)
  --modes         what the wrapper is: off, with an empty database and no budget, or tuning (default: disabled,cold)
  --budget        seconds of tuning per compile, where it tunes (default: ${BUDGET_SECONDS})
  --limit         compile no more than N files, taken evenly from all
  --jobs          compile N files at a time (default: one per processor; one when the wrapper tunes)
  --json          also write the report to FILE, anew after each file

Exit code 1 says that something is different without us.`;

async function main(): Promise<void> {
  const args = readArguments(['shapes', 'modes', 'budget', 'limit', 'jobs', 'json'], USAGE);
  const json = jsonFile(args);
  const shapes = chosen(args, 'shapes', SHAPES, names(SHAPES));
  const budget = wholeNumber(args, 'budget', BUDGET_SECONDS);
  const modes = chosen(args, 'modes', MODES, 'disabled,cold').map((mode) => withBudget(mode, budget));
  const limit = args.options['limit'] === undefined ? Infinity : wholeNumber(args, 'limit', 1);
  const tunes = modes.some((mode) => mode.tunes);
  const jobs = wholeNumber(args, 'jobs', tunes ? 1 : availableParallelism());
  if (tunes && jobs > 1)
    throw new UsageError('--jobs: only one build can measure at a time, the others would not be tuned');
  const files = inputs(args.positionals, limit);

  // Children end before their folder is removed.
  process.on('exit', killRunning);
  const place = await openWorkplace();
  const environment = ({ name, settings }: Mode) =>
    wrapperEnvironment(place, {
      // pip's script would add its own start to every compile of stock.
      COMPILER: place.compiler.executable,
      DB: join(place.folder, name, 'tuning.db'),
      CACHE: join(place.folder, name, 'cache'),
      DEVICE: 'local-sync',
      ...settings,
    });
  const compilers: Compilers = {
    stock: place.compiler.executable,
    wrapper: place.wrapper,
    environment,
    compareModules: tunes ? await moduleComparison(place) : null,
  };
  let shown = 0;
  const plan = { files, shapes, modes, jobs, folder: join(place.folder, 'work') };
  const report = await compareAll(plan, compilers, (soFar) => {
    for (const finding of soFar.findings.slice(shown)) console.log(describe(finding));
    shown = soFar.findings.length;
    progress(soFar, files.length);
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(soFar, null, 2)}\n`);
  });
  for (const mode of modes.filter(({ settings }) => settings['DISABLE'] === undefined))
    console.log(`${mode.name}, as the wrapper counts:\n${await countsOf(environment(mode))}`);
  console.log(report.summary());
  if (!report.isGood) process.exitCode = 1;
}

/** @throws UsageError */
function inputs(paths: readonly string[], limit: number): string[] {
  if (paths.length === 0) throw new UsageError('name files or folders to compile; --help says more');
  let files: string[];
  try {
    files = listInputs(paths, limit);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
  if (files.length === 0) throw new UsageError('there are no .mlir or .mlirbc files');
  return files;
}

/** @throws UsageError */
function chosen<T extends { readonly name: string }>(
  { options }: Arguments,
  option: string,
  from: readonly T[],
  byDefault: string,
): T[] {
  return (options[option] ?? byDefault).split(',').map((name) => {
    const found = from.find((one) => one.name === name);
    if (found === undefined) throw new UsageError(`--${option} ${name}: it takes ${names(from)}`);
    return found;
  });
}

function progress({ files, comparisons, differences }: Report, of: number): void {
  const line = `${files} of ${of} files, ${comparisons} comparisons, ${differences.length} differences`;
  if (process.stderr.isTTY) process.stderr.write(`\r${line}${files === of ? '\n' : ''}`);
  else if (files % 25 === 0 || files === of) say(line);
}

/** The wrapper's counters over all compiles: they show that it worked at all. */
async function countsOf(env: NodeJS.ProcessEnv): Promise<string> {
  const result = await execa(join(root, 'bin', 'iree-tuned'), ['stats'], {
    env,
    extendEnv: false,
    reject: false,
  });
  return result.stdout;
}

await run('test:differential', main);
