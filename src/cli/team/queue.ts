// Shows and changes the jobs of the fleet.
import { HEARTBEAT_SECONDS } from '../../fleet/boss.ts';
import type { ServerDatabase } from '../../fleet/database.ts';
import {
  cancel,
  idOf,
  isPaused,
  jobStates,
  pause,
  queueStates,
  resume,
  retry,
  runStates,
  type JobState,
  type QueueState,
  type RunState,
} from '../../fleet/overview.ts';
import { installQueue } from '../../fleet/queue.ts';
import { table } from '../../report/table.ts';
import { counted, formatDuration } from '../../system/format.ts';
import type { CliCommand } from '../command.ts';
import { UsageError } from '../failure.ts';
import { fleetDatabase } from './server.ts';

export interface QueueOptions {
  readonly retry?: boolean;
  readonly pause?: boolean;
  readonly resume?: boolean;
  readonly install?: boolean;
}

export async function showQueue(options: QueueOptions, command: CliCommand): Promise<void> {
  using database = fleetDatabase(command.surroundings());
  if (options.install === true) {
    await installQueue(database);
    command.print({ installed: true }, () => 'The queue is ready.');
  } else if (options.retry === true) await printRetried(null, database, command);
  else {
    if (options.pause === true) await pause(database);
    if (options.resume === true) await resume(database);
    const paused = await isPaused(database);
    const queues = await queueStates(database);
    const jobs = await jobStates(database);
    command.print({ paused, queues, jobs }, () =>
      [
        ...(paused ? ['The queue is paused: iree-tuned team queue --resume ends the pause.'] : []),
        ...describedQueues(queues),
        ...describedJobs(jobs),
      ].join('\n\n'),
    );
  }
}

export interface RunsOptions {
  readonly log?: boolean;
  readonly cancel?: boolean;
  readonly retry?: boolean;
}

export async function showRuns(
  beginning: string | undefined,
  options: RunsOptions,
  command: CliCommand,
): Promise<void> {
  using database = fleetDatabase(command.surroundings());
  if (beginning === undefined) {
    if (Object.keys(options).some((name) => name !== 'json'))
      throw new UsageError('team runs: --log, --cancel and --retry need the id of a run or a job');
    const runs = await runStates(database);
    command.print(runs, () => (runs.length === 0 ? 'There are no runs.' : tableOfRuns(runs)));
    return;
  }
  const id = await idOf(database, beginning);
  if (options.cancel === true) {
    const cancelled = await cancel(database, id);
    command.print({ cancelled }, () => `Cancelled jobs: ${cancelled.length}.`);
  } else if (options.retry === true) await printRetried(id, database, command);
  else if (options.log === true) {
    const jobs = await jobStates(database, id);
    command.print(jobs, () => jobs.map(({ name, state, log }) => `${name}: ${state}\n${log}\n`).join('\n'));
  } else {
    const run = await runWithJobs(database, id);
    command.print(run, () => describeRun(run));
  }
}

async function printRetried(id: string | null, database: ServerDatabase, command: CliCommand): Promise<void> {
  const retried = await retry(database, id);
  command.print({ retried }, () => `Retried jobs: ${retried.length}.`);
}

/** A run with its jobs; null as the run of a single job. */
export interface RunWithJobs {
  readonly run: RunState | null;
  readonly jobs: readonly JobState[];
}

export async function runWithJobs(database: ServerDatabase, id: string): Promise<RunWithJobs> {
  const [run = null] = await runStates(database, id);
  return { run, jobs: await jobStates(database, id) };
}

export const describeRun = ({ run, jobs }: RunWithJobs): string =>
  [...(run === null ? [] : [tableOfRuns([run])]), ...describedJobs(jobs)].join('\n\n');

const tableOfRuns = (runs: readonly RunState[]): string =>
  table(
    ['run', 'since', 'by', 'device', 'waiting', 'active', 'done', 'failed', 'cancelled', 'left'],
    runs.map((run) => [
      ...[run.id.slice(0, 8), run.since.slice(0, 16), `${run.createdBy}@${run.machine}`, run.device],
      ...[run.waiting, run.active, run.done, run.failed, run.cancelled].map(String),
      describeLeft(run),
    ]),
  );

export function describeLeft({ waiting, active, workers, secondsLeft }: RunState): string {
  if (waiting + active === 0) return '-';
  if (workers === 0) return 'no worker';
  return secondsLeft === null ? '?' : `about ${formatDuration(secondsLeft)}`;
}

function describedQueues(queues: readonly QueueState[]): string[] {
  if (queues.length === 0) return ['The queue is empty.'];
  const rows = queues.map(({ target, compiler, device, secondsEach, ...counts }) => [
    ...[target, compiler, device],
    ...[counts.workers, counts.waiting, counts.active, counts.failed, counts.done].map(String),
    secondsEach === null ? '-' : formatDuration(secondsEach),
  ]);
  const header = [
    'target',
    'compiler',
    'device',
    'workers',
    'waiting',
    'active',
    'failed',
    'done in an hour',
  ];
  return [
    table([...header, 'time per job'], rows),
    ...queues.flatMap(({ target, compiler, device, waiting, workers }) =>
      waiting > 0 && workers === 0
        ? [`No worker serves ${counted(waiting, 'job')} for ${device}, ${target}, ${compiler}.`]
        : [],
    ),
  ];
}

const MOST_ROWS = 50;

function describedJobs(jobs: readonly JobState[]): string[] {
  if (jobs.length === 0) return [];
  const rows = jobs
    .slice(0, MOST_ROWS)
    .map((job) => [
      ...[job.id.slice(0, 8), job.name, describeState(job)],
      ...[String(job.attempts), job.machines.join(', ') || '-', job.reason ?? ''],
    ]);
  return [
    table(['job', 'workload or program', 'state', 'attempts', 'on', 'reason'], rows),
    ...(jobs.length > MOST_ROWS ? [`... and ${jobs.length - MOST_ROWS} more (--json has all)`] : []),
    ...(jobs.some(({ state }) => state === 'failed')
      ? ['iree-tuned team runs ID --log shows why, and --retry tries once more.']
      : []),
  ];
}

function describeState({ state, seconds, silent }: JobState): string {
  if (seconds === null || silent === null) return state;
  // Its worker is gone, or cannot reach the server.
  const note = silent > 2 * HEARTBEAT_SECONDS ? `, silent for ${formatDuration(silent)}` : '';
  return `${state} for ${formatDuration(seconds)}${note}`;
}
