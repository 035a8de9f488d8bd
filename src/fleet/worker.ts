// A worker: takes a job, does it, delivers the records to the team's base, and takes the next job. Records stay in the local database while
// the base cannot be reached.
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../system/tell.ts';
import { UserError } from '../system/user-error.ts';
import { GivenUpError, retryUntilReachable, type Retry } from './database.ts';
import { isOfLaterVersion, jobName, readJob, type Job, type Place } from './job.ts';
import type { MachineLock } from './machine.ts';
import type { Queue, TakenJob } from './queue.ts';
import type { DoJob, JobResult } from './tune-job.ts';

export interface WorkerParts {
  readonly place: Place;
  readonly queue: Queue;
  readonly machine: MachineLock;
  readonly doJob: DoJob;
  /** Brings the base up to date, and delivers new records to it. Returns why it could not; null if it could. */
  readonly exchange: () => Promise<string | null>;
  /** Why records of this machine are useless; null if they are not. */
  readonly whyUseless: () => Promise<string | null>;
  /** Whether another process measures on this machine, such as a build. */
  readonly isBusy: () => Promise<boolean>;
  readonly untilIdle: boolean;
  /** `drain`: take no further job. `abort`: hand the current job back. `give-up`: stop waiting for the server. */
  readonly signals: Readonly<Record<'drain' | 'abort' | 'give-up', AbortSignal>>;
  readonly say: (line: string) => void;
}

/** Interval of heartbeats in milliseconds: several before the queue counts a worker as gone. */
const HEARTBEAT_MS = 2500;

/** A job of a later version is deferred for so long, in milliseconds. */
const DEFER_MS = 600_000;

/** Interval in milliseconds at which an idle worker looks for jobs, +-25%. */
const IDLE_MS = 2000;

const CANCELLED = 'cancelled';

/** Jobs in a row with an error, after which a worker ends. */
const MAX_ERRORS = 3;

/** @throws UserError if the server denies access, or has no queue */
export const runWorker = (parts: WorkerParts): Promise<number> => new Worker(parts).run();

class Worker {
  readonly #parts: WorkerParts;
  readonly #retry: Retry;
  #finished = 0;
  /** The current job. `lost` aborts its search. */
  #held: { readonly taken: TakenJob; readonly lost: AbortController } | null = null;
  #holdsMachine = false;
  /** Keys of jobs of later versions, and until when each is deferred, by `performance.now()`. */
  readonly #deferred = new Map<string, number>();
  #errorsInARow = 0;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    const { signals, say } = parts;
    const isWorthWaiting = () => !signals.drain.aborted || this.#held !== null;
    this.#retry = retryUntilReachable(signals['give-up'], isWorthWaiting, say);
  }

  /** Returns the number of finished jobs. */
  async run(): Promise<number> {
    const { queue, signals, say } = this.#parts;
    const stopHeartbeats = new AbortController();
    const heartbeats = this.#heartbeats(stopHeartbeats.signal);
    try {
      // Records of an earlier run may be undelivered.
      await this.#exchange();
      while (!signals.drain.aborted && (await this.#step()));
    } catch (error) {
      if (!(error instanceof GivenUpError)) throw error;
      say(`gave up waiting for the server: ${error.message}`);
    } finally {
      stopHeartbeats.abort();
      await heartbeats;
      await this.#releaseMachine().catch(() => undefined);
      await queue.close().catch(() => undefined);
    }
    return this.#finished;
  }

  /** Takes and does one job at most. Returns false when the worker should end. */
  async #step(): Promise<boolean> {
    const { queue, machine, isBusy, untilIdle, whyUseless } = this.#parts;
    const useless = await whyUseless();
    if (useless !== null) throw new UserError(useless);
    this.#holdsMachine = await this.#retry(() => machine.hold());
    const isFree = this.#holdsMachine && !(await isBusy());
    const taken = isFree ? await this.#retry(() => queue.take(this.#deferredKeys())) : null;
    if (taken !== null) await this.#do(taken);
    await this.#retry(() => this.#releaseMachine());
    if (taken !== null) return true;
    if (isFree && untilIdle) return false;
    await this.#idle();
    return true;
  }

  async #do(taken: TakenJob): Promise<void> {
    const { queue, place, doJob, signals, say } = this.#parts;
    if (taken.key !== null && isOfLaterVersion(taken.data)) {
      this.#deferred.set(taken.key, performance.now() + DEFER_MS);
      await this.#retry(() => queue.handBack(taken));
      say(`returned ${taken.id} to the queue: the job needs a later version of this program`);
      return;
    }
    const job = readJob(taken.data, place);
    if (typeof job === 'string') {
      say(`refused ${taken.id}: ${job}`);
      await this.#retry(() => queue.fail(taken, job));
      return;
    }
    const lost = new AbortController();
    this.#held = { taken, lost };
    say(`took ${jobName(job)}`);
    try {
      // Another worker may have tuned it since it was submitted.
      await this.#exchange();
      const signal = AbortSignal.any([signals.abort, lost.signal]);
      const result = await doJob(job, signal).catch((error: unknown) => this.#afterError(taken, error));
      if (result !== null) await this.#end(taken, job, result);
    } finally {
      this.#held = null;
    }
  }

  /** Fails the job. Rejects after `MAX_ERRORS` in a row, because then the machine is at fault. */
  async #afterError(taken: TakenJob, error: unknown): Promise<null> {
    const { queue, say } = this.#parts;
    const reason = messageOf(error);
    await this.#retry(() => queue.fail(taken, reason));
    say(`failed ${taken.id}: ${reason}`);
    if (++this.#errorsInARow >= MAX_ERRORS) throw error;
    return null;
  }

  async #end(taken: TakenJob, job: Job, result: JobResult): Promise<void> {
    const { queue, say } = this.#parts;
    const name = jobName(job);
    switch (result.outcome) {
      case 'done': {
        const { summary, log = [] } = result;
        await this.#exchange();
        await this.#retry(() => queue.complete(taken, [...log, `done: ${summary}`]));
        this.#finished++;
        this.#errorsInARow = 0;
        say(`done ${name}: ${summary}`);
        return;
      }
      case 'undecided':
        // A program may have records for some of its work.
        await this.#exchange();
        await this.#retry(() => queue.fail(taken, result.reason, result.log));
        say(`failed ${name}: ${result.reason}`);
        return;
      case 'busy':
      case 'stopped':
        // This has no effect on a cancelled job.
        await this.#retry(() => queue.handBack(taken));
        say(
          this.#held?.lost.signal.reason === CANCELLED
            ? `stopped ${name}: it is cancelled`
            : `returned ${name} to the queue`,
        );
    }
  }

  /** A base that cannot be reached stops no worker: the next exchange delivers the same records. */
  async #exchange(): Promise<void> {
    const problem = await this.#parts.exchange();
    if (problem !== null) this.#parts.say(problem);
  }

  #deferredKeys(): string[] {
    for (const [key, until] of this.#deferred) if (performance.now() >= until) this.#deferred.delete(key);
    return [...this.#deferred.keys()];
  }

  async #heartbeats(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      // `#retry` reports an unreachable server.
      await this.#heartbeat().catch(() => undefined);
      await sleep(HEARTBEAT_MS, undefined, { signal: until }).catch(() => undefined);
    }
  }

  async #heartbeat(): Promise<void> {
    const { queue, machine, say } = this.#parts;
    const held = this.#held;
    // The search goes on if another worker may have the job now: its result is valid, and completing a job twice does no harm.
    if (held !== null && (await queue.touch(held.taken)) === 'cancelled') held.lost.abort(CANCELLED);
    if (this.#holdsMachine && held !== null && !(await machine.hold()) && this.#held === held) {
      say('another worker measures on this machine now');
      held.lost.abort();
    }
    await queue.supervise();
  }

  async #releaseMachine(): Promise<void> {
    if (!this.#holdsMachine) return;
    this.#holdsMachine = false;
    await this.#parts.machine.release();
  }

  async #idle(): Promise<void> {
    const { drain } = this.#parts.signals;
    await sleep(IDLE_MS * (0.75 + Math.random() / 2), undefined, { signal: drain }).catch(() => undefined);
  }
}
