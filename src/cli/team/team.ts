// `iree-tuned team`
import { InvalidArgumentError } from 'commander';
import { readDuration } from '../../settings/settings.ts';
import { CliCommand } from '../command.ts';
import { block, migrate, roles, unblock } from './administer.ts';
import { key, publishCommand } from './publish.ts';
import { status } from './status.ts';
import { sync } from './sync.ts';
import type { WorkerOptions } from './worker.ts';

// The driver of the queue is loaded by these commands only.
const worker = new CliCommand(
  'worker',
  'tune the wanted workloads of the team on this machine until a signal ends it',
)
  .withFlags('')
  .budget('time for each workload')
  .option('--drain <time>', 'time of a running job after the first signal: 90, 90s, 15m or 2h', drainOf, 60)
  .option('--until-idle', 'end when the queue is empty')
  .json('print each event as a line of JSON')
  .examples(
    ['iree-tuned team worker --budget 2m', 'for this CPU, until a signal'],
    ['iree-tuned team worker --until-idle', 'until the queue is empty'],
  )
  .action(async (options: WorkerOptions, command: CliCommand) => {
    const { work } = await import('./worker.ts');
    await work(options, command);
  });

function drainOf(text: string): number {
  const seconds = readDuration(text);
  if (seconds !== undefined && seconds <= 86_400) return seconds;
  throw new InvalidArgumentError('It takes a time such as 90s or 15m, up to a day.');
}

const queue = new CliCommand('queue', 'show the workers, the queue and the failed jobs')
  .option('--retry [id]', 'retry one failed job (default: all)')
  .json()
  .examples(
    ['iree-tuned team queue', 'workers, waiting jobs and failed jobs'],
    ['iree-tuned team queue --retry', 'retry all failed jobs'],
  )
  .action(async (options: { retry?: string | true }, command: CliCommand) => {
    const { showQueue } = await import('./queue.ts');
    await showQueue(options, command);
  });

export const team = new CliCommand(
  'team',
  'share records with a team: a base in a folder or on a web server',
).examples(
  ['iree-tuned team publish /mnt/share/tuned', 'publish the records of this machine'],
  ['iree-tuned --team /mnt/share/tuned team status', 'the base as builds here use it'],
);
for (const command of [publishCommand, key, status, sync, worker, queue, migrate, roles, block, unblock])
  team.addCommand(command);
