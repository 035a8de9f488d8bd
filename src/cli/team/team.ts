// `iree-tuned team`
import { InvalidArgumentError } from 'commander';
import { readDuration } from '../../settings/settings.ts';
import { CliCommand } from '../command.ts';
import { status, sync } from './bases.ts';
import { exportCommand } from './export.ts';
import { key, publishCommand } from './publish.ts';
import type { QueueOptions, RunsOptions } from './queue.ts';
import type { WorkerOptions } from './worker.ts';

// The driver of the queue is loaded by these commands only.
const worker = new CliCommand('worker', 'do the jobs of the fleet on this machine until a signal ends it')
  .withFlags('')
  .budget('time for a job that has none of its own')
  .option('--models <dir>', 'folder of the programs that jobs name (default: the first base in a folder)')
  .option('--drain <time>', 'time of a running job after the first signal: 90, 90s, 15m or 2h', drainOf, 60)
  .option('--until-idle', 'end when the queue is empty')
  .json('print each event as a line of JSON')
  .examples(
    ['iree-tuned team worker --budget 2m', 'for this CPU, until a signal'],
    ['iree-tuned team worker --until-idle', 'until the queue is empty'],
  )
  .action(async (options: WorkerOptions, command: CliCommand) => {
    const { runWorkerHere } = await import('./worker.ts');
    await runWorkerHere(options, command);
  });

function drainOf(text: string): number {
  const seconds = readDuration(text);
  if (seconds !== undefined && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError('It takes a time such as 90s or 15m, up to a day.');
}

const queue = new CliCommand('queue', "show the fleet's jobs: waiting, running, done and failed")
  .option('--retry', 'try all failed jobs once more')
  .option('--pause', 'let workers take no further jobs')
  .option('--resume', 'end a pause')
  .option('--install', 'create or update the tables of the queue')
  .json()
  .examples(
    ['iree-tuned team queue --install', "once, with the login of the queue's owner"],
    ['iree-tuned team queue', 'waiting jobs, running jobs and failed jobs'],
    ['iree-tuned team queue --retry', 'retry all failed jobs'],
  )
  .action(async (options: QueueOptions, command: CliCommand) => {
    const { showQueue } = await import('./queue.ts');
    await showQueue(options, command);
  });

const runs = new CliCommand('runs', 'show the submissions to the fleet, or one submission or job')
  .argument('[id]', 'of a run or a job, or its beginning')
  .option('--log', 'print the logs of its jobs')
  .option('--cancel', 'cancel it; jobs that another run wants go on')
  .option('--retry', 'try its failed jobs once more')
  .json()
  .examples(
    ['iree-tuned team runs', 'all runs, with their progress'],
    ['iree-tuned team runs 3f2a', 'the jobs of one run'],
    ['iree-tuned team runs 3f2a --log', 'their logs'],
  )
  .action(async (id: string | undefined, options: RunsOptions, command: CliCommand) => {
    const { showRuns } = await import('./queue.ts');
    await showRuns(id, options, command);
  });

export const team = new CliCommand(
  'team',
  'share records with a team: a base in a folder or on a web server',
).examples(
  ['iree-tuned team publish /mnt/share/tuned', 'publish the records of this machine'],
  ['iree-tuned --team /mnt/share/tuned team status', 'the base as builds here use it'],
);
for (const command of [publishCommand, key, status, sync, worker, queue, runs, exportCommand])
  team.addCommand(command);
