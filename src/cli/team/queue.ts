// Shows the workers, the queue and the failed jobs of the team.
import { HEARTBEAT_SECONDS } from '../../fleet/boss.ts';
import { deadJobs, queueStates, retryDead, type DeadJob, type QueueState } from '../../fleet/overview.ts';
import { table } from '../../report/table.ts';
import { formatDuration } from '../../system/format.ts';
import type { FleetState, KnownWorker } from '../../team/team.ts';
import type { CliCommand } from '../command.ts';
import { COMMAND_LIMIT_MS, valueOf, withQueue, withTeam } from './server.ts';

/** Whether a worker misses heartbeats: it is gone, or cannot reach the server. */
const isSilent = ({ seen }: KnownWorker): boolean => seen > 2 * HEARTBEAT_SECONDS;

/** @param retry id of a failed job to retry, or its beginning; true for all failed jobs */
export async function showQueue(
  { retry }: { readonly retry?: string | true },
  command: CliCommand,
): Promise<void> {
  const surroundings = command.surroundings();
  await withQueue(surroundings, async (database) => {
    if (retry !== undefined) {
      const retried = await retryDead(database, retry === true ? undefined : retry);
      command.print({ retried }, () => `Retried jobs: ${retried.length}.`);
      return;
    }
    const state = await withTeam(surroundings, async (team) => valueOf(await team.fleet(COMMAND_LIMIT_MS)));
    const queues = await queueStates(database);
    const dead = await deadJobs(database);
    const workers = state.workers.map((worker) => ({ ...worker, silent: isSilent(worker) }));
    command.print({ ...state, workers, queues, dead }, () => described(state, queues, dead));
  });
}

function described(
  { workers, wanted, refused }: FleetState,
  queues: readonly QueueState[],
  dead: readonly DeadJob[],
): string {
  const parts = [
    workers.length === 0
      ? 'No workers: start iree-tuned team worker on a machine of the target.'
      : table(
          ['worker', 'device', 'compiler', 'state', 'job', 'for', 'done'],
          workers.map((worker) => [
            `${worker.login} (${worker.person}@${worker.machine})`,
            worker.device,
            worker.compiler,
            isSilent(worker) ? `silent for ${formatDuration(worker.seen)}` : worker.state,
            worker.holds ?? '-',
            formatDuration(worker.since),
            String(worker.finished),
          ]),
        ),
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
    `Wanted by builds: ${wanted}${refused.length === 0 ? '' : `, and ${refused.length} without a worker that can tune them`}.`,
  ];
  if (refused.length > 0)
    parts.push(
      table(
        ['not tunable by workers', 'builds', 'reason'],
        refused.map(({ workload, builds, reason }) => [workload, String(builds), reason]),
      ),
    );
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
