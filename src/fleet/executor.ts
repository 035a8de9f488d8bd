// Runs a plan of `iree-tuned tune` on the fleet: submits jobs, then follows them until each workload has a record in the team's base or has failed.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Executor } from '../populate/populate.ts';
import type { Site } from '../site/site.ts';
import type { TuningRecord } from '../store/store.ts';
import { because } from '../system/reason.ts';
import type { Known, Work } from '../tuning/tune-workloads.ts';
import { ServerError } from './database.ts';
import { jobKey, placeOfWorker, whyNotAlone, type Job } from './job.ts';
import type { JobState, Queue } from './queue.ts';

/** Interval between two looks at the queue, in milliseconds. */
const LOOK_MS = 3000;

/** How long a record may take from the end of its job to the base, in milliseconds. */
const ARRIVAL_MS = 60_000;

export interface FleetParts {
  /** Surveys the programs on this machine, without measuring. */
  readonly prepare: Executor['prepare'];
  readonly sites: readonly { readonly site: Site }[];
  readonly queueAt: (site: Site) => Promise<Queue>;
  /** Asks the bases, if there are keys, and returns the records that builds use, by workload. */
  readonly recordsAt: (keys: readonly string[], site: Site) => Promise<ReadonlyMap<string, TuningRecord>>;
  /** Receives the number of open workloads after each look. */
  readonly onLook: (open: number) => void;
}

/** `tune` rejects with `ServerError` if the server cannot be reached at the beginning, or denies a call. */
export function executorOfFleet({ prepare, sites, queueAt, recordsAt, onLook }: FleetParts): Executor {
  return {
    prepare,
    async tune(works, again, index, { budgetSeconds, finishEarly, signal, onResult }) {
      const { site } = sites[index]!;
      const stop = AbortSignal.any([finishEarly, signal]);
      const end = performance.now() + 1000 * budgetSeconds;
      const before = await recordsAt([...again], site);
      const results = new Map<string, Known>();
      const undecided = new Map<string, ReturnType<typeof withoutRecord>>();
      const giveUp = (key: string, reason: string) => undecided.set(key, withoutRecord(key, reason));
      for (const { key, workload } of works) {
        const reason = whyNotAlone(workload);
        if (reason !== null) giveUp(key, reason);
      }
      const open = () => works.filter(({ key }) => !results.has(key) && !undecided.has(key));
      /** When the end of a job was seen first. */
      const doneSince = new Map<string, number>();
      const queue = await queueAt(site);
      const look = async () => {
        const states = await queue.states();
        const stateOf = (key: string) => states.get(jobKey(key));
        for (const { key } of open()) {
          const state = stateOf(key);
          if (state?.state === 'dead') giveUp(key, reasonOf(state));
          if (state?.state === 'done' && !doneSince.has(key)) doneSince.set(key, performance.now());
        }
        const done = open().filter(({ key }) => doneSince.has(key));
        const keys = done.map(({ key }) => key);
        const records = await recordsAt(keys, site);
        for (const key of keys) {
          const record = records.get(key);
          const isNew = record?.evidence.tuningSeconds !== before.get(key)?.evidence.tuningSeconds;
          if (record !== undefined) {
            const known: Known = { ...record, outcome: isNew ? 'tuned' : 'hit' };
            results.set(key, known);
            onResult(key, known);
          } else if (performance.now() > doneSince.get(key)! + ARRIVAL_MS)
            giveUp(
              key,
              'a worker has finished its job, but the base has no record of it: the setting "team" must name one base there and here',
            );
        }
        onLook(open().length);
      };
      try {
        await queue.plan(open().map((work) => ({ job: jobOf(work, site), priority: work.count })));
        while (open().length > 0 && !stop.aborted && performance.now() < end) {
          await sleep(LOOK_MS, undefined, { signal: stop }).catch(() => undefined);
          await look().catch((error: unknown) => {
            // Workers go on while the server is away.
            if (!(error instanceof ServerError) || error.failure.kind !== 'unreachable') throw error;
          });
        }
      } finally {
        await queue.close().catch(() => undefined);
      }
      return { results, undecided, whyNot: because('job-pending') };
    },
  };
}

const jobOf = ({ key, workload }: Work, site: Site): Job => ({
  ...{ version: 1, ...placeOfWorker(site), workload: key, form: workload },
});

const reasonOf = ({ id, reason }: JobState): string =>
  `${reason ?? 'no reason given'} (iree-tuned team queue --retry ${id.slice(0, 8)} tries again)`;

const withoutRecord = (workload: string, reason: string) => ({
  ...{ workload, reason, budgetSeconds: 0, attempts: 1 },
  lastTriedAt: new Date().toISOString(),
});
