// A worker: takes a job, tunes its workload, pushes the result, and takes the next job. Results stay in the local database while the
// server is away.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange } from '../store/exchange/exchange.ts';
import type { RecordKey, Store } from '../store/store.ts';
import { ownOrigin } from '../store/author.ts';
import { formatRatio } from '../system/format.ts';
import { messageOf } from '../system/tell.ts';
import { UserError } from '../system/user-error.ts';
import { pull, push } from '../team/exchange.ts';
import type { Team } from '../team/team.ts';
import { valueOf } from './database.ts';
import { isOfLaterVersion, readJob, type Job, type Place } from './job.ts';
import type { MachineLock } from './machine.ts';
import { demandsAt, planJobs } from './plan.ts';
import type { Queue, TakenJob } from './queue.ts';
import { GivenUpError, retryUntilReachable, type Retry } from './retry.ts';
import type { DoJob, JobResult } from './tune-job.ts';

export interface WorkerParts {
  readonly place: Place;
  /** Key of this machine's device. */
  readonly device: string;
  readonly team: Team;
  readonly queue: Queue;
  readonly machine: MachineLock;
  readonly store: Store;
  readonly local: Exchange;
  readonly doJob: DoJob;
  /** Whether another process measures on this machine, such as a build. */
  readonly isBusy: () => Promise<boolean>;
  /** End when no job is left to take. */
  readonly untilIdle: boolean;
  /** `drain`: take no further job. `abort`: hand the current job back. `give-up`: stop waiting for the server. */
  readonly signals: Readonly<Record<'drain' | 'abort' | 'give-up', AbortSignal>>;
  /** Receives one line for each event. */
  readonly say: (line: string) => void;
}

/** Interval of heartbeats in milliseconds: several before the server counts a worker as gone. */
const HEARTBEAT_MS = 2500;

/** Shortest interval between two rounds of planning, in milliseconds. */
const PLAN_INTERVAL_MS = 10_000;

/** Demands in one page of the server. */
const PAGE = 1000;

/** A job of a later version is deferred for so long, in milliseconds. */
const DEFER_MS = 600_000;

/** Interval in milliseconds at which an idle worker looks for jobs, +-25%. */
const IDLE_MS = 2000;

/** Shortest interval between two pushes of trials, in milliseconds. */
const PUSH_INTERVAL_MS = 5000;

/** Time limits of one call and of a push of many trials, in milliseconds. */
const CALL_MS = 10_000;
const PUSH_MS = 60_000;

/** Jobs in a row with an error, after which a worker ends. */
const MAX_ERRORS = 3;

/** @throws UserError if the server denies access, or lacks the worker's tables or functions */
export async function runWorker(parts: WorkerParts): Promise<{ finished: number }> {
  const worker = new Worker(parts);
  return worker.run();
}

class Worker {
  readonly #parts: WorkerParts;
  readonly #id = randomUUID();
  readonly #retry: Retry;
  #finished = 0;
  #state = 'starting';
  /** The current job. `lost` aborts its search. */
  #held: { readonly taken: TakenJob; readonly job: Job; readonly lost: AbortController } | null = null;
  #holdsMachine = false;
  #plannedAt = -Infinity;
  #pushedAt = -Infinity;
  #pushing: Promise<void> = Promise.resolve();
  #attending: Promise<void> | null = null;
  /** Keys of jobs of later versions, and until when each is deferred, by `performance.now()`. */
  readonly #deferred = new Map<string, number>();
  /** Offset of the last page of demands. */
  #skipped = 0;
  #errorsInARow = 0;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    const { signals, say } = parts;
    const isWorthWaiting = () => !signals.drain.aborted || this.#held !== null;
    this.#retry = retryUntilReachable(signals['give-up'], isWorthWaiting, say);
  }

  async run(): Promise<{ finished: number }> {
    const { team, queue, signals, say } = this.#parts;
    const stopHeartbeats = new AbortController();
    const heartbeats = this.#heartbeats(stopHeartbeats.signal);
    try {
      // Results of an earlier run may be unpushed.
      await this.#retry(() => this.#sync());
      while (!signals.drain.aborted && (await this.#step()));
    } catch (error) {
      if (!(error instanceof GivenUpError)) throw error;
      say(`gave up waiting for the server: ${error.message}`);
    } finally {
      stopHeartbeats.abort();
      await heartbeats;
      await this.#attending;
      await this.#tryOnce(() => this.#releaseMachine());
      await team.leave({ id: this.#id }, CALL_MS);
      await queue.close().catch(() => undefined);
    }
    return { finished: this.#finished };
  }

  /** Plans, takes and does one job at most. Returns false when the worker should end. */
  async #step(): Promise<boolean> {
    const { queue, machine, isBusy, untilIdle, store } = this.#parts;
    await this.#retry(() => this.#plan());
    const revocation = store.ownRevocation();
    if (revocation !== null)
      throw new UserError(
        `the team ignores records of this machine: ${revocation.scope} ${revocation.value} is revoked (${revocation.reason})`,
      );
    this.#holdsMachine = await this.#retry(() => machine.hold());
    if (!this.#holdsMachine) {
      this.#state = 'another worker measures on this machine';
      await this.#idle();
      return true;
    }
    if (await isBusy()) {
      this.#state = 'a build measures on this machine';
      await this.#retry(() => this.#releaseMachine());
      await this.#idle();
      return true;
    }
    const taken = await this.#retry(() => queue.take(this.#deferredKeys()));
    if (taken !== null) await this.#do(taken);
    await this.#retry(() => this.#releaseMachine());
    if (taken !== null) return true;
    this.#state = 'idle';
    if (untilIdle) return false;
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
    this.#held = { taken, job, lost };
    this.#state = 'measures';
    say(`took ${job.workload}`);
    try {
      await this.#retry(() => this.#sync(job));
      // Another worker may have done the job since it was planned.
      if ((await this.#retry(() => this.#wanted(job))).length === 0) {
        await this.#retry(() => queue.complete(taken, {}));
        say(`dropped ${job.workload}: no build misses it now`);
        return;
      }
      const signal = AbortSignal.any([signals.abort, lost.signal]);
      const onBatch = () => {
        this.#pushTrials();
      };
      const result = await doJob(job, { signal, onBatch }).catch((error: unknown) =>
        this.#afterError(taken, error),
      );
      await this.#pushing;
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
    this.#state = 'pushes its result';
    switch (result.outcome) {
      case 'known': {
        const { isNew, evidence } = result;
        await this.#retry(() => this.#sync());
        await this.#retry(() => this.#settle(job));
        await this.#retry(() => queue.complete(taken, { ratio: evidence.ratio, isNew }));
        this.#finished++;
        this.#errorsInARow = 0;
        say(`done ${job.workload}: ${formatRatio(evidence.ratio)}${isNew ? '' : ' (known already)'}`);
        return;
      }
      case 'undecided':
        await this.#retry(() => this.#sync());
        await this.#retry(() => queue.fail(taken, result.reason));
        say(`failed ${job.workload}: ${result.reason}`);
        return;
      case 'busy':
      case 'stopped':
        await this.#retry(() => queue.handBack(taken));
        say(`returned ${job.workload} to the queue`);
        // The job first: its trials can wait.
        await this.#tryOnce(() => this.#sync());
    }
  }

  #deferredKeys(): string[] {
    for (const [key, until] of this.#deferred) if (performance.now() >= until) this.#deferred.delete(key);
    return [...this.#deferred.keys()];
  }

  /**
   * Makes jobs of demands. The first round reads all pages. Each later round reads the first page, which has the most wanted, and one
   * more page in turn.
   */
  async #plan(): Promise<void> {
    if (performance.now() < this.#plannedAt + PLAN_INTERVAL_MS) return;
    const isAtStart = this.#plannedAt === -Infinity;
    let more = await this.#planPage(0);
    while (more) {
      this.#skipped += PAGE;
      more = await this.#planPage(this.#skipped);
      if (!more) this.#skipped = 0;
      if (!isAtStart) break;
    }
    this.#plannedAt = performance.now();
  }

  /** Plans one page of demands. Returns whether there are more pages. */
  async #planPage(skip: number): Promise<boolean> {
    const { team, place, queue, say } = this.#parts;
    const { target, compiler } = place;
    const wanted = valueOf(await team.demands({ target, compiler, skip }, CALL_MS));
    const { jobs, refused } = planJobs(wanted, place);
    for (const { subject, reason } of refused) {
      valueOf(await team.settle([subject], reason, CALL_MS));
      say(`cannot tune ${subject.workload}: ${reason}`);
    }
    const added = await queue.plan(jobs);
    if (added > 0) say(`planned ${added}`);
    return wanted.more;
  }

  /** The demands for a job's workload on all devices of the class. */
  async #wanted({ workload }: Job): Promise<RecordKey[]> {
    const { team, place } = this.#parts;
    const { target, compiler } = place;
    const wanted = valueOf(await team.demands({ target, compiler, workload }, CALL_MS));
    return demandsAt(wanted, place).map(({ device }) => ({ workload, target, compiler, device }));
  }

  async #settle(job: Job): Promise<void> {
    const subjects = await this.#wanted(job);
    if (subjects.length > 0) valueOf(await this.#parts.team.settle(subjects, null, CALL_MS));
  }

  /** Pushes new content of the local database. Before a job it also pulls. */
  async #sync(job?: Job): Promise<void> {
    const { team, local } = this.#parts;
    const server = valueOf(await team.identify(CALL_MS));
    if (job !== undefined) {
      const { target, compiler } = job;
      valueOf(await pull(team, local, { target, compiler }, server, CALL_MS));
    }
    const pushed = valueOf(await push(team, local, server, { limitMs: PUSH_MS, allTrials: true }));
    this.#pushedAt = performance.now();
    for (const [reason, count] of Object.entries(pushed.refused))
      this.#parts.say(`the server refused ${count} lines: ${reason}`);
  }

  /** Pushes trials. If a push fails, the next one sends them again. */
  #pushTrials(): void {
    if (performance.now() < this.#pushedAt + PUSH_INTERVAL_MS) return;
    this.#pushedAt = performance.now();
    this.#pushing = this.#pushing.then(() => this.#tryOnce(() => this.#sync()));
  }

  async #heartbeats(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      await this.#tryOnce(() => this.#heartbeat());
      await sleep(HEARTBEAT_MS, undefined, { signal: until }).catch(() => undefined);
    }
  }

  async #heartbeat(): Promise<void> {
    const { queue, machine, say } = this.#parts;
    const held = this.#held;
    // The search goes on: its result is valid, and completing a job twice does no harm.
    if (held !== null && !(await queue.touch(held.taken)) && this.#held === held && !held.lost.signal.aborted)
      this.#state = 'measures a job that another worker may have taken over';
    if (this.#holdsMachine && held !== null && !(await machine.hold()) && this.#held === held) {
      say('another worker measures on this machine now');
      held.lost.abort();
    }
    await queue.supervise();
    // This call may wait behind a push of many trials. The job's heartbeat must not.
    this.#attending ??= this.#tryOnce(() => this.#attend()).finally(() => {
      this.#attending = null;
    });
  }

  async #attend(): Promise<void> {
    const { team, place, device, signals } = this.#parts;
    const { createdBy: person, machine, tool } = ownOrigin();
    const { target, compiler } = place;
    const state = signals.drain.aborted ? 'ends' : this.#state;
    const holds = this.#held?.job.workload ?? null;
    const own = { id: this.#id, person, machine, tool, device, target, compiler };
    await team.attend({ ...own, state, holds, finished: this.#finished }, CALL_MS);
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

  /** Ignores a failure. */
  async #tryOnce(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch {
      // `#retry` reports an unreachable server.
    }
  }
}
