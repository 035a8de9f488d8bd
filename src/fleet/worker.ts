// A worker: takes a job, tunes it, tells the team what came of it, and takes the next one, for as long as it is wanted. All that
// it does with the server it repeats until the server is there: what was measured lies in the local database meanwhile.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange } from '../store/exchange/exchange.ts';
import type { RecordKey, Store } from '../store/store.ts';
import { ownOrigin } from '../store/author.ts';
import { messageOf } from '../system/tell.ts';
import { UserError } from '../system/user-error.ts';
import { pull, push } from '../team/exchange.ts';
import type { Answer, Team } from '../team/team.ts';
import { ServerError } from './database.ts';
import { isOfLaterVersion, readJob, type Job, type Place } from './job.ts';
import type { MachineLock } from './machine.ts';
import { demandsAt, planJobs } from './plan.ts';
import type { Queue, TakenJob } from './queue.ts';
import type { DoJob, JobResult } from './tune-job.ts';

export interface WorkerParts {
  readonly place: Place;
  /** Key of this very device. */
  readonly device: string;
  readonly team: Team;
  readonly queue: Queue;
  readonly machine: MachineLock;
  readonly store: Store;
  readonly local: Exchange;
  readonly doJob: DoJob;
  /** Whether somebody else measures on this machine, who may not know of the server. */
  readonly isBusy: () => Promise<boolean>;
  /** Ends it when nothing is left that could be taken. */
  readonly untilIdle: boolean;
  /** At the first one no further job is taken, at the second what is under way is handed back, at the third nobody waits for the server. */
  readonly signals: Readonly<Record<'drain' | 'abort' | 'give-up', AbortSignal>>;
  /** What happens, a line each. */
  readonly say: (line: string) => void;
}

/** Signs of life are given so often, in milliseconds: several in the time after which a worker is gone. */
const BEAT_MS = 2500;

/** What builds want becomes jobs so often, at most. */
const PLAN_MS = 10_000;

/** Demands that the server tells at once. */
const PAGE = 1000;

/** A job of a later version is left to others for so long before it is looked at again, in milliseconds. */
const LEFT_MS = 600_000;

/** Who has nothing to do looks so often, in milliseconds, give or take a quarter. */
const IDLE_MS = 2000;

/** Trials are told so often, at most. */
const TELL_MS = 5000;

/** One call of the team's functions; a push of many trials. */
const CALL_MS = 10_000;
const PUSH_MS = 60_000;

/** So many jobs in a row may end with an error before it is taken for this machine's. */
const MOST_BROKEN = 3;

/** Between two attempts to reach the server, in milliseconds. */
const PAUSE_MS = 1000;

/** The server did not answer, and nobody waits for it any more. */
class GivenUpError extends Error {
  override readonly name = 'GivenUpError';
}

function valueOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw new ServerError(answer.failure);
}

/** @throws UserError where the server lets nobody in, or is another one than is needed */
export async function runWorker(parts: WorkerParts): Promise<{ finished: number }> {
  const worker = new Worker(parts);
  return worker.run();
}

class Worker {
  readonly #parts: WorkerParts;
  readonly #id = randomUUID();
  #finished = 0;
  #state = 'starting';
  /** What is under way. */
  #held: { readonly taken: TakenJob; readonly job: Job; readonly lost: AbortController } | null = null;
  #holdsMachine = false;
  #planned = -Infinity;
  #told = -Infinity;
  #isAway = false;
  #telling: Promise<void> = Promise.resolve();
  #calls: Promise<unknown> = Promise.resolve();
  #attending: Promise<void> | null = null;
  /** Keys of jobs that only a later version can do, and until when they are left to it, by `performance.now()`. */
  readonly #left = new Map<string, number>();
  /** Demands that were skipped for the last page. */
  #skipped = 0;
  /** Jobs in a row that ended with an error of ours. */
  #broken = 0;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
  }

  async run(): Promise<{ finished: number }> {
    const { queue, signals, say } = this.#parts;
    const beats = new AbortController();
    const beating = this.#beat(beats.signal);
    try {
      // What is here since the last time: it may be what others wait for.
      await this.#whenThere(() => this.#exchange());
      while (!signals.drain.aborted && (await this.#step()));
    } catch (error) {
      if (!(error instanceof GivenUpError)) throw error;
      say(`the server did not come back: ${error.message}`);
    } finally {
      beats.abort();
      await beating;
      await this.#attending;
      await this.#once(() => this.#machineReleased());
      await this.#once(async () => {
        await this.#call((team) => team.leave({ id: this.#id }, CALL_MS));
      });
      await queue.close().catch(() => undefined);
    }
    return { finished: this.#finished };
  }

  /** One round; false when there is nothing left to do. */
  async #step(): Promise<boolean> {
    const { queue, machine, isBusy, untilIdle, store } = this.#parts;
    await this.#whenThere(() => this.#plan());
    const revocation = store.ownRevocation();
    if (revocation !== null)
      throw new UserError(
        `nobody reads what is tuned here: ${revocation.scope} ${revocation.value} is revoked (${revocation.reason})`,
      );
    this.#holdsMachine = await this.#whenThere(() => machine.hold());
    if (!this.#holdsMachine) {
      this.#state = 'another worker measures on this machine';
      await this.#idle();
      return true;
    }
    if (await isBusy()) {
      this.#state = 'a build measures on this machine';
      await this.#whenThere(() => this.#machineReleased());
      await this.#idle();
      return true;
    }
    const taken = await this.#whenThere(() => queue.take(this.#leftToOthers()));
    if (taken !== null) await this.#do(taken);
    await this.#whenThere(() => this.#machineReleased());
    if (taken !== null) return true;
    this.#state = 'idle';
    if (untilIdle) return false;
    await this.#idle();
    return true;
  }

  async #do(taken: TakenJob): Promise<void> {
    const { queue, place, doJob, signals, say } = this.#parts;
    if (taken.key !== null && isOfLaterVersion(taken.data)) {
      this.#left.set(taken.key, performance.now() + LEFT_MS);
      await this.#whenThere(() => queue.handBack(taken));
      say(`left ${taken.id} to a later version of this program`);
      return;
    }
    const job = readJob(taken.data, place);
    if (typeof job === 'string') {
      say(`refused ${taken.id}: ${job}`);
      await this.#whenThere(() => queue.fail(taken, job));
      return;
    }
    const lost = new AbortController();
    this.#held = { taken, job, lost };
    this.#state = 'measures';
    say(`took ${job.workload}`);
    try {
      await this.#whenThere(() => this.#exchange(job));
      // Somebody may have planned it while it was being done, or a build has told of it since.
      if ((await this.#whenThere(() => this.#wanted(job))).length === 0) {
        await this.#whenThere(() => queue.complete(taken, {}));
        say(`nobody wants ${job.workload} any more`);
        return;
      }
      const signal = AbortSignal.any([signals.abort, lost.signal]);
      const onBatch = () => {
        this.#tell();
      };
      const result = await doJob(job, { signal, onBatch }).catch((error: unknown) =>
        this.#afterError(taken, error),
      );
      await this.#telling;
      if (result !== null) await this.#end(taken, job, result);
    } finally {
      this.#held = null;
    }
  }

  /** A job that no worker can bear must not end all of them; a worker that can bear none must not end all jobs. */
  async #afterError(taken: TakenJob, error: unknown): Promise<null> {
    const { queue, say } = this.#parts;
    const reason = messageOf(error);
    await this.#whenThere(() => queue.fail(taken, reason));
    say(`failed ${taken.id}: ${reason}`);
    if (++this.#broken >= MOST_BROKEN) throw error;
    return null;
  }

  async #end(taken: TakenJob, job: Job, result: JobResult): Promise<void> {
    const { queue, say } = this.#parts;
    this.#state = 'tells what it has found';
    switch (result.outcome) {
      case 'known': {
        const { isNew, evidence } = result;
        await this.#whenThere(() => this.#exchange());
        await this.#whenThere(() => this.#settle(job));
        await this.#whenThere(() => queue.complete(taken, { ratio: evidence.ratio, isNew }));
        this.#finished++;
        this.#broken = 0;
        say(`done ${job.workload}: ${evidence.ratio.toFixed(2)}x${isNew ? '' : ', as was known already'}`);
        return;
      }
      case 'undecided':
        await this.#whenThere(() => this.#exchange());
        await this.#whenThere(() => queue.fail(taken, result.reason));
        say(`failed ${job.workload}: ${result.reason}`);
        return;
      case 'busy':
      case 'stopped':
        await this.#whenThere(() => queue.handBack(taken));
        say(`handed back ${job.workload}`);
        // What was tried is of use to nobody else until it is told, but a job that waits is worse.
        await this.#once(() => this.#exchange());
    }
  }

  #leftToOthers(): string[] {
    for (const [key, until] of this.#left) if (performance.now() >= until) this.#left.delete(key);
    return [...this.#left.keys()];
  }

  /**
   * What builds want becomes jobs, every now and then: what is wanted most each time, and of the rest all pages at first, then one more each
   * time. So what is dead or for others hides nothing, and nobody reads all of it every ten seconds.
   */
  async #plan(): Promise<void> {
    if (performance.now() < this.#planned + PLAN_MS) return;
    const isAtStart = this.#planned === -Infinity;
    let more = await this.#planPage(0);
    while (more) {
      this.#skipped += PAGE;
      more = await this.#planPage(this.#skipped);
      if (!more) this.#skipped = 0;
      if (!isAtStart) break;
    }
    this.#planned = performance.now();
  }

  /** Whether there is more after this page. */
  async #planPage(skip: number): Promise<boolean> {
    const { place, queue, say } = this.#parts;
    const { target, compiler } = place;
    const wanted = valueOf(await this.#call((team) => team.demands({ target, compiler, skip }, CALL_MS)));
    const { jobs, refused } = planJobs(wanted, place);
    for (const { subject, reason } of refused) {
      valueOf(await this.#call((team) => team.settle([subject], reason, CALL_MS)));
      say(`cannot do ${subject.workload}: ${reason}`);
    }
    const added = await queue.plan(jobs);
    if (added > 0) say(`planned ${added}`);
    return wanted.more;
  }

  /** What of the demands a job is about, on any device of the class. */
  async #wanted({ workload }: Job): Promise<RecordKey[]> {
    const { place } = this.#parts;
    const { target, compiler } = place;
    const wanted = valueOf(await this.#call((team) => team.demands({ target, compiler, workload }, CALL_MS)));
    return demandsAt(wanted, place).map(({ device }) => ({ workload, target, compiler, device }));
  }

  /** It is known now, whoever of them wanted it. */
  async #settle(job: Job): Promise<void> {
    const subjects = await this.#wanted(job);
    if (subjects.length > 0) valueOf(await this.#call((team) => team.settle(subjects, null, CALL_MS)));
  }

  /** Tells what is new here; before a job also hears what others know. */
  async #exchange(job?: Job): Promise<void> {
    const { local } = this.#parts;
    const server = valueOf(await this.#call((team) => team.identify(CALL_MS)));
    if (job !== undefined) {
      const { target, compiler } = job;
      valueOf(await this.#call((team) => pull(team, local, { target, compiler }, server, CALL_MS)));
    }
    const options = { limitMs: PUSH_MS, allTrials: true };
    const pushed = valueOf(await this.#call((team) => push(team, local, server, options)));
    this.#told = performance.now();
    for (const [reason, count] of Object.entries(pushed.refused))
      this.#parts.say(`not taken by the server: ${count} ${reason}`);
  }

  /** Trials, batch by batch; what does not get through is told with the next batch. */
  #tell(): void {
    if (performance.now() < this.#told + TELL_MS) return;
    this.#told = performance.now();
    this.#telling = this.#telling.then(() => this.#once(() => this.#exchange()));
  }

  /** Gives signs of life until the signal, whatever else is going on. */
  async #beat(until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      await this.#once(() => this.#signOfLife());
      await sleep(BEAT_MS, undefined, { signal: until }).catch(() => undefined);
    }
  }

  async #signOfLife(): Promise<void> {
    const { queue, machine, say } = this.#parts;
    const held = this.#held;
    // It is worked on to the end, and told: whoever has it now finds that, and whoever comes late does no harm.
    if (held !== null && !(await queue.touch(held.taken)) && this.#held === held && !held.lost.signal.aborted)
      this.#state = 'measures what somebody else may have taken over';
    if (this.#holdsMachine && held !== null && !(await machine.hold()) && this.#held === held) {
      say('another worker measures on this machine now');
      held.lost.abort();
    }
    await queue.supervise();
    // It may have to wait for many trials that are being told, and a job must not.
    this.#attending ??= this.#once(() => this.#attend()).finally(() => {
      this.#attending = null;
    });
  }

  async #attend(): Promise<void> {
    const { place, device } = this.#parts;
    const { createdBy: person, machine: name, tool } = ownOrigin();
    await this.#call((team) =>
      team.attend(
        {
          id: this.#id,
          ...{ person, machine: name, tool, device },
          ...{ target: place.target, compiler: place.compiler },
          state: this.#parts.signals.drain.aborted ? 'ends' : this.#state,
          holds: this.#held?.job.workload ?? null,
          finished: this.#finished,
        },
        CALL_MS,
      ),
    );
  }

  async #machineReleased(): Promise<void> {
    if (!this.#holdsMachine) return;
    this.#holdsMachine = false;
    await this.#parts.machine.release();
  }

  async #idle(): Promise<void> {
    const { drain } = this.#parts.signals;
    await sleep(IDLE_MS * (0.75 + Math.random() / 2), undefined, { signal: drain }).catch(() => undefined);
  }

  /** The team's connection does one thing at a time. */
  #call<T>(action: (team: Team) => Promise<T>): Promise<T> {
    const { team } = this.#parts;
    const result = this.#calls.then(() => action(team));
    this.#calls = result.catch(() => undefined);
    return result;
  }

  /** Where it does not matter much whether it succeeds. */
  async #once(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch {
      // The server is away: it is said by what cannot do without it.
    }
  }

  /** Repeats until the server is there. Rejects where no later attempt will do, and when nobody waits any more. */
  async #whenThere<T>(action: () => Promise<T>): Promise<T> {
    const { signals, say } = this.#parts;
    for (;;) {
      try {
        const value = await action();
        if (this.#isAway) say('the server is there again');
        this.#isAway = false;
        return value;
      } catch (error) {
        if (!(error instanceof ServerError) || error.failure.kind !== 'unreachable') throw error;
        if (signals['give-up'].aborted || (signals.drain.aborted && this.#held === null))
          throw new GivenUpError(error.message);
        if (!this.#isAway) say(error.message);
        this.#isAway = true;
        await sleep(PAUSE_MS, undefined, { signal: signals['give-up'] }).catch(() => undefined);
      }
    }
  }
}
