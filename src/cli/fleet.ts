// `iree-tuned fleet`: who works, what waits, what nobody can do, and what has died.
import type { Command as Program } from 'commander';
import { queueDatabase } from '../fleet/database.ts';
import { HEARTBEAT_SECONDS } from '../fleet/boss.ts';
import { deadJobs, queueStates, retryDead, type DeadJob, type QueueState } from '../fleet/overview.ts';
import { table } from '../report/table.ts';
import { formatDuration } from '../system/format.ts';
import { readAddress } from '../team/address.ts';
import { passwordFor } from '../team/password-file.ts';
import type { FleetState, KnownWorker } from '../team/team.ts';
import { surroundingsOf } from './context.ts';
import { COMMAND_LIMIT_MS, teamUrl, valueOf, withTeam } from './team.ts';

interface Options {
  readonly retry?: string | true;
  readonly json?: boolean;
}

/** A worker that has not been heard of for so long is gone, or cannot reach the server. */
const isSilent = ({ seen }: KnownWorker): boolean => seen > 2 * HEARTBEAT_SECONDS;

export async function fleet(options: Options, program: Program): Promise<void> {
  const surroundings = surroundingsOf(program);
  const address = readAddress(teamUrl(surroundings));
  const database = queueDatabase(address, passwordFor(address, surroundings.env));
  try {
    if (options.retry !== undefined) {
      const retried = await retryDead(database, options.retry === true ? undefined : options.retry);
      if (options.json === true) console.log(JSON.stringify({ retried }, null, 2));
      else console.log(`Jobs that are tried again: ${retried.length}.`);
      return;
    }
    const state = await withTeam(surroundings, async (team) => valueOf(await team.fleet(COMMAND_LIMIT_MS)));
    const queues = await queueStates(database);
    const dead = await deadJobs(database);
    if (options.json === true) {
      const workers = state.workers.map((worker) => ({ ...worker, silent: isSilent(worker) }));
      console.log(JSON.stringify({ ...state, workers, queues, dead }, null, 2));
    } else console.log(described(state, queues, dead));
  } finally {
    database.close();
  }
}

function described(
  { workers, wanted, refused }: FleetState,
  queues: readonly QueueState[],
  dead: readonly DeadJob[],
): string {
  const parts = [
    workers.length === 0
      ? 'Nobody works: iree-tuned worker, on a machine that is to be tuned for.'
      : table(
          ['worker', 'device', 'compiler', 'does', 'holds', 'for', 'done'],
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
          ['target', 'compiler', 'device', 'waiting', 'again', 'active', 'done in an hour', 'each takes'],
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
    `Wanted by builds: ${wanted}${refused.length === 0 ? '' : `, and ${refused.length} that nobody can do`}.`,
  ];
  if (refused.length > 0)
    parts.push(
      table(
        ['nobody can do', 'builds', 'because'],
        refused.map(({ workload, builds, reason }) => [workload, String(builds), reason]),
      ),
    );
  if (dead.length > 0)
    parts.push(
      table(
        ['dead', 'workload', 'attempts', 'on', 'because'],
        dead.map(({ id, workload, attempts, machines, reason }) => [
          id.slice(0, 8),
          workload,
          String(attempts),
          machines.join(', ') || 'all machines',
          reason,
        ]),
      ),
      'iree-tuned fleet --retry tries all of these again, iree-tuned fleet --retry ID one of them.',
    );
  return parts.join('\n\n');
}
