// Does the jobs of the fleet on this machine.
import { join } from 'node:path';
import { folderOf, lastCheck } from '../../base/installed.ts';
import { runJob } from '../../base/job.ts';
import { jobFor } from '../../base/start.ts';
import { withBases } from '../../base/open.ts';
import { placeOfWorker, queueName } from '../../fleet/job.ts';
import { machineLock } from '../../fleet/machine.ts';
import { openQueue } from '../../fleet/queue.ts';
import { jobsAt, type ProgramMeans } from '../../fleet/tune-job.ts';
import { runWorker, type WorkerParts } from '../../fleet/worker.ts';
import { packageRoot } from '../../system/package-root.ts';
import { machineVariable } from '../../system/machine-lock.ts';
import { acquireMeasuringLock } from '../../site/measuring-lock.ts';
import { siteOf } from '../../populate/site.ts';
import { placeOf } from '../../store/subject.ts';
import type { CliCommand } from '../command.ts';
import { openDatabase } from '../database.ts';
import { UsageError } from '../failure.ts';
import { measuringToolsAt, withTarget } from '../input.ts';
import { fleetDatabase, modelsFolder, requireBase, requireOwnDatabase } from './server.ts';

/** Time to hand the running job back to the server, in seconds. */
const HAND_BACK_SECONDS = 15;

export interface WorkerOptions {
  /** Time of a running job after the first signal, in seconds. */
  readonly drain: number;
  readonly untilIdle?: boolean;
  readonly models?: string;
  readonly json?: boolean;
}

export async function runWorkerHere(
  { drain, untilIdle = false, models, json = false }: WorkerOptions,
  cli: CliCommand,
): Promise<void> {
  const surroundings = cli.surroundings();
  const { env, settings, cacheDirectory } = surroundings;
  if (settings.readonly)
    throw new UsageError('a worker writes the database, and IREE_TUNED_READONLY is set: unset it');
  requireBase(surroundings);
  requireOwnDatabase(surroundings);
  if (settings.budgetSeconds === 0)
    throw new UsageError('a worker needs time to tune: set --budget to the time of each workload');
  const say = (message: string) => {
    const time = new Date().toISOString();
    console.log(json ? JSON.stringify({ at: time, message }) : `${time} ${message}`);
  };
  const flags = withTarget(cli.flags);
  const at = await siteOf(flags, surroundings);
  const { site } = at;
  const tools = measuringToolsAt(at, surroundings);
  const place = placeOfWorker(site);
  const places = [placeOf(site)];
  const programs: ProgramMeans = {
    models: modelsFolder(models, surroundings),
    executable: join(packageRoot, 'bin', 'iree-tuned'),
    flags,
    envFor: (seconds) => ({ ...env, ...cli.variables({ budget: String(seconds) }) }),
  };
  using database = fleetDatabase(surroundings, queueName(place));
  using ending = endingSignals(drain, say);
  // The first exchange reads it.
  (await openDatabase(surroundings)).close();
  const exchange = async () => {
    const publish = settings.publish === 'off' ? 'inbox' : settings.publish;
    await runJob(jobFor({ places, sent: settings.database, publish }, surroundings));
    const checks = settings.bases.map((address) => lastCheck(folderOf(cacheDirectory, address)));
    return checks.find((check) => check !== null && check.problem !== null)?.problem ?? null;
  };
  const storeNow = async () => withBases(await openDatabase(surroundings), places, surroundings);
  const queue = await openQueue(database, place);
  say(`tunes for ${place.device}, ${place.target}, ${place.compiler}`);
  const finished = await runWorker({
    ...{ place, queue, exchange, signals: ending.signals, say, untilIdle },
    machine: machineLock(database, env[machineVariable]),
    doJob: jobsAt(storeNow, site, tools, surroundings, programs),
    whyUseless: async () => {
      using store = await storeNow();
      const revoked = store.ownRevocation();
      return revoked === null
        ? null
        : `records of this machine are ignored: ${revoked.scope} ${revoked.value} is revoked (${revoked.reason})`;
    },
    isBusy: async () => {
      const lock = await acquireMeasuringLock({ ...surroundings, device: site.device }, 0);
      lock?.release();
      return lock === null;
    },
  });
  say(`ends, ${finished} done`);
}

/** The first SIGTERM or SIGINT drains: the running job has `drainSeconds` to end. The second ends the process at once. */
export function endingSignals(
  drainSeconds: number,
  say: (line: string) => void,
): Disposable & Pick<WorkerParts, 'signals'> {
  const [drain, abort, giveUp] = [new AbortController(), new AbortController(), new AbortController()];
  const timers: NodeJS.Timeout[] = [];
  const after = (seconds: number, controller: AbortController) => {
    timers.push(
      setTimeout(() => {
        controller.abort();
      }, seconds * 1000),
    );
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (drain.signal.aborted) process.exit(signal === 'SIGINT' ? 130 : 143);
    say(
      `${signal}: the worker ends within ${drainSeconds + HAND_BACK_SECONDS} s; a second signal ends the worker at once`,
    );
    drain.abort();
    after(drainSeconds, abort);
    after(drainSeconds + HAND_BACK_SECONDS, giveUp);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return {
    signals: { drain: drain.signal, abort: abort.signal, 'give-up': giveUp.signal },
    [Symbol.dispose]: () => {
      process.off('SIGTERM', onSignal);
      process.off('SIGINT', onSignal);
      timers.forEach(clearTimeout);
    },
  };
}
