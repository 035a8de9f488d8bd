// `iree-tuned tune`: tunes ahead of builds.
import { statSync } from 'node:fs';
import type { Option } from 'commander';
import { CliCommand, several, shardOf, wholeNumber, type SearchOptions } from '../command.ts';
import { UsageError } from '../failure.ts';
import type { Shard } from '../../populate/plan.ts';
import { isSwept, type SweepText } from '../../populate/sweep.ts';
import { runAutoScheduler } from './auto-scheduler.ts';
import { OF_FLEET, tuneMany } from './many.ts';
import { tuneProgram } from './program.ts';

export interface TuneOptions extends SearchOptions, SweepText {
  readonly shapes?: readonly string[];
  readonly fromMisses?: boolean;
  readonly flags?: readonly string[];
  readonly dryRun?: boolean;
  readonly budget?: string;
  readonly jobs?: number;
  readonly shard?: Shard;
  readonly fleet?: boolean;
  readonly models?: string;
  readonly priority?: number;
  readonly detach?: boolean;
  readonly verifyProgram?: boolean;
  readonly config?: string;
  readonly keep?: string;
}

export const tune = new CliCommand(
  'tune',
  'tune the matmuls, convolutions and attentions of programs ahead of a build; an interrupted run resumes',
)
  .argument('[inputs...]', 'MLIR or ONNX models: files, folders or patterns')
  .withFlags('[inputs...]')
  .budget('time for all workloads', 'for one input IREE_TUNED_BUDGET, else 60; for more no limit')
  .option(
    '--verify-program',
    'run the whole program, and leave out configurations that make it slower or wrong',
  )
  .search()
  .option('--shapes <file>', 'list of shapes as CSV; may be repeated', several)
  .sweep('matmul, batch_matmul, both also with _transpose_a or _transpose_b, softmax, attention', 'both')
  .option('--from-misses', 'tune the misses of builds with on-miss=record')
  .option('--config <file>', "run a settings file of IREE's auto-scheduler")
  .option('--keep <dir>', 'with --config: write each candidate as MLIR, and a CSV of the results')
  .option('--flags <flags>', 'compiler flags of one more target; may be repeated', several)
  .option('--jobs <count>', 'number of parallel compiles; measurements never overlap', wholeNumber)
  .option('--shard <part>', 'one of several even parts of the models and shapes, such as 3/10', shardOf)
  .option(
    '--fleet',
    "send the work to the team's workers and wait for the results (see iree-tuned team worker); --budget is the time of each job",
  )
  .option(
    '--models <dir>',
    "with --fleet: folder of the workers' programs (default: the first base in a folder)",
  )
  .option('--priority <number>', 'with --fleet: jobs with a higher one come first', wholeNumber)
  .option('--detach', 'with --fleet: do not wait for the results')
  .option('--dry-run', 'print the work, its order and its expected time, and tune nothing')
  .json()
  .examples(
    ['iree-tuned tune model.mlir --budget 5m', 'five minutes for all workloads'],
    ['iree-tuned tune model.mlir -- --iree-llvmcpu-target-cpu=znver4', 'for another CPU'],
    ['iree-tuned tune model.onnx', 'imported by iree-import-onnx'],
    ['iree-tuned tune model.mlir --verify-program', 'also run the program, stock against tuned'],
    ['iree-tuned tune models/ --budget 8h', 'a night for all models in a folder'],
    ['iree-tuned tune models/ --shard 3/10', 'the third of ten jobs, each on its own machine'],
    ['iree-tuned tune --m 64:1024:64 --n 512,768 --k 768 --dry-run', 'size of a sweep'],
    ['iree-tuned tune --op softmax --batch 12 --m 197 --n 197', 'a sweep of softmax'],
    ['iree-tuned tune --from-misses', 'recorded misses'],
    ['iree-tuned tune --config auto-scheduler.cfg', "a settings file of IREE's auto-scheduler"],
  )
  .action(async (inputs: readonly string[], options: TuneOptions, command: CliCommand) => {
    const { config, keep } = options;
    if (config !== undefined) {
      refuseOthers(inputs, command);
      await runAutoScheduler(config, options, command);
    } else if (keep !== undefined)
      throw new UsageError('--keep needs --config; for other inputs use iree-tuned profile --keep');
    else if (isOneProgram(inputs, options)) await tuneProgram(inputs[0]!, options, command);
    else await tuneMany(inputs, options, command);
  });

/** Options of a run that may have several inputs or targets. */
const OF_MANY = ['shapes', 'fromMisses', 'flags', 'jobs', 'shard', 'fleet', 'dryRun', ...OF_FLEET] as const;

function isOneProgram(inputs: readonly string[], options: TuneOptions): boolean {
  const [input] = inputs;
  if (input === undefined || inputs.length > 1) return false;
  if (isSwept(options) || OF_MANY.some((name) => options[name] !== undefined)) return false;
  // A missing file is named by the path of one input, a pattern is expanded by the other.
  return statSync(input, { throwIfNoEntry: false })?.isDirectory() !== true && !/[*?[{]/.test(input);
}

/** A settings file of the auto-scheduler has its own input and search. */
function refuseOthers(inputs: readonly string[], command: CliCommand): void {
  const isGiven = (option: Option) => command.getOptionValueSource(option.attributeName()) === 'cli';
  const others = command.options.filter(
    (one) => isGiven(one) && !['--config', '--keep', '--budget'].includes(one.long!),
  );
  if (inputs.length > 0 || others.length > 0)
    throw new UsageError('--config allows only --budget, --keep and compiler flags');
}
