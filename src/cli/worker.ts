// `iree-tuned worker`: tunes what builds want, on this machine, for as long as it runs.
import type { Command as Program } from 'commander';
import { findMeasuringTools } from '../compiler/find.ts';
import { queueDatabase } from '../fleet/database.ts';
import { placeOfWorker } from '../fleet/job.ts';
import { machineLock } from '../fleet/machine.ts';
import { openQueue } from '../fleet/queue.ts';
import { jobsAt } from '../fleet/tune-job.ts';
import { runWorker, type WorkerParts } from '../fleet/worker.ts';
import { machineVariable } from '../site/machine-lock.ts';
import { acquireMeasuringLock } from '../site/measuring-lock.ts';
import { readAddress } from '../team/address.ts';
import { UserError } from '../system/user-error.ts';
import { passwordFor } from '../team/password-file.ts';
import {
  openDatabase,
  openWholeDatabase,
  siteOf,
  surroundingsOf,
  UsageError,
  withTarget,
} from './context.ts';
import { requireOwnDatabase, teamUrl, withTeam } from './team.ts';

/** Seconds after which a worker that was told to end hands back what is under way. */
export const DRAIN_SECONDS = 60;

/** And so long does it try to tell the server. */
const HAND_BACK_SECONDS = 15;

interface Options {
  readonly budget?: string;
  readonly drain: string;
  readonly untilIdle?: boolean;
  readonly json?: boolean;
}

export async function work(flags: readonly string[], options: Options, program: Program): Promise<void> {
  const drainSeconds = Number(options.drain);
  if (options.drain.trim() === '' || !(drainSeconds >= 0 && drainSeconds <= 86_400))
    throw new UsageError(`--drain ${options.drain}: it takes a number of seconds, up to a day`);
  const { budget } = options;
  const surroundings = surroundingsOf(program, budget === undefined ? {} : { budget });
  const { env, settings, root, cacheDirectory } = surroundings;
  if (settings.readonly) throw new UsageError('a worker writes what it measures: unset IREE_TUNED_READONLY');
  requireOwnDatabase(surroundings);
  if (settings.budgetSeconds === 0)
    throw new UsageError('a worker needs time to tune: --budget takes the seconds for each workload');
  const address = readAddress(teamUrl(surroundings));
  const { command, site } = await siteOf(withTarget(flags), surroundings);
  if (site.whyNotHere !== null)
    throw new UserError(`nothing can be measured here: ${site.whyNotHere.reason}`);
  const tools = findMeasuringTools(command.compiler, env, { root, cacheDirectory });
  if (tools === null)
    throw new UserError(
      'iree-benchmark-module and iree-run-module are not found (pip install iree-base-runtime)',
    );
  const place = placeOfWorker(site);
  const say = (message: string) => {
    const at = new Date().toISOString();
    console.log(options.json === true ? JSON.stringify({ at, message }) : `${at} ${message}`);
  };
  const { signals, unlisten } = endingSignals(drainSeconds, say);
  const store = await openDatabase(surroundings);
  const local = openWholeDatabase(surroundings);
  const database = queueDatabase(address, passwordFor(address, env));
  try {
    await withTeam(surroundings, async (team) => {
      const queue = await openQueue(database, place);
      say(`works for ${place.device}, ${place.target}, ${place.compiler}`);
      const { finished } = await runWorker({
        ...{ place, device: site.deviceKey, team, queue, store, local, signals, say },
        machine: machineLock(database, env[machineVariable]),
        doJob: jobsAt(store, site, tools, surroundings),
        isBusy: async () => {
          const lock = await acquireMeasuringLock(surroundings, 0);
          lock?.release();
          return lock === null;
        },
        untilIdle: options.untilIdle === true,
      });
      say(`ends, ${finished} done`);
    });
  } finally {
    unlisten();
    database.close();
    local.close();
    store.close();
  }
}

/** The first SIGTERM or SIGINT drains; what is under way has `drainSeconds` to end. The second ends everything at once. */
export function endingSignals(
  drainSeconds: number,
  say: (line: string) => void,
): { readonly signals: WorkerParts['signals']; readonly unlisten: () => void } {
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
    say(`${signal}: ends within ${drainSeconds + HAND_BACK_SECONDS} s; once more ends it at once`);
    drain.abort();
    after(drainSeconds, abort);
    after(drainSeconds + HAND_BACK_SECONDS, giveUp);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return {
    signals: { drain: drain.signal, abort: abort.signal, 'give-up': giveUp.signal },
    unlisten: () => {
      process.off('SIGTERM', onSignal);
      process.off('SIGINT', onSignal);
      timers.forEach(clearTimeout);
    },
  };
}
