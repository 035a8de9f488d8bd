// Shows the jobs of the fleet.
import { HEARTBEAT_SECONDS } from '../../fleet/boss.ts';
import {
  activeJobs,
  deadJobs,
  queueStates,
  retryDead,
  type ActiveJob,
  type DeadJob,
  type QueueState,
} from '../../fleet/overview.ts';
import { table } from '../../report/table.ts';
import { formatDuration } from '../../system/format.ts';
import type { CliCommand } from '../command.ts';
import { withQueue } from './server.ts';

/** Whether the worker of a job misses heartbeats: it is gone, or cannot reach the server. */
const isSilent = ({ silent }: ActiveJob): boolean => silent > 2 * HEARTBEAT_SECONDS;

interface Options {
  /** Id of a failed job to retry, or its beginning; true for all failed jobs. */
  readonly retry?: string | true;
  readonly install?: boolean;
}

export async function showQueue({ retry, install }: Options, command: CliCommand): Promise<void> {
  const surroundings = command.surroundings();
  await withQueue(surroundings, async (database) => {
    if (install === true) {
      const { installQueue } = await import('../../fleet/install.ts');
      await installQueue(database);
      command.print({ installed: true }, () => 'The queue is ready.');
      return;
    }
    if (retry !== undefined) {
      const retried = await retryDead(database, retry === true ? undefined : retry);
      command.print({ retried }, () => `Retried jobs: ${retried.length}.`);
      return;
    }
    const queues = await queueStates(database);
    const active = await activeJobs(database);
    const dead = await deadJobs(database);
    command.print({ queues, active, dead }, () => described(queues, active, dead));
  });
}

function described(
  queues: readonly QueueState[],
  active: readonly ActiveJob[],
  dead: readonly DeadJob[],
): string {
  const parts = [
    queues.length === 0
      ? 'The queue is empty.'
      : table(
          ['target', 'compiler', 'device', 'waiting', 'retries', 'active', 'done in an hour', 'time per job'],
          queues.map((queue) => [
            queue.target,
            queue.compiler,
            queue.device,
            String(queue.waiting),
            String(queue.retried),
            String(queue.active),
            String(queue.done),
            queue.secondsEach === null ? '-' : formatDuration(queue.secondsEach),
          ]),
        ),
    ...(active.length === 0
      ? []
      : [
          table(
            ['running', 'on', 'for', 'worker'],
            active.map((job) => [
              ...[job.workload, job.machine, formatDuration(job.seconds)],
              isSilent(job) ? `silent for ${formatDuration(job.silent)}` : 'works',
            ]),
          ),
        ]),
  ];
  if (dead.length > 0)
    parts.push(
      table(
        ['failed', 'workload', 'attempts', 'on', 'reason'],
        dead.map(({ id, workload, attempts, machines, reason }) => [
          id.slice(0, 8),
          workload,
          String(attempts),
          machines.join(', ') || 'all machines',
          reason,
        ]),
      ),
      'iree-tuned team queue --retry retries all failed jobs, iree-tuned team queue --retry ID one of them.',
    );
  return parts.join('\n\n');
}
