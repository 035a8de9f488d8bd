// Runs a plan of `iree-tuned tune` on the fleet: raises demands, then polls for records until each workload is tuned or failed.
import { setTimeout as sleep } from 'node:timers/promises';
import { recordsOfClass } from '../decision/same-class.ts';
import type { Executor } from '../populate/populate.ts';
import type { Exchange } from '../store/exchange/exchange.ts';
import { partsOf } from '../store/exchange/parts.ts';
import { chooseRecord } from '../store/choose.ts';
import type { Site } from '../site/site.ts';
import type { Store, TuningRecord } from '../store/store.ts';
import { keysOf, placeOf, subjectOf } from '../store/subject.ts';
import { pull } from '../team/exchange.ts';
import type { Demand, Team } from '../team/team.ts';
import type { Known, Work } from '../tuning/tune-workloads.ts';
import { ServerError, valueOf, type QueueDatabase } from './database.ts';
import { placeOfWorker, whyNotAlone } from './job.ts';
import { deadJobs } from './overview.ts';
import { allDemands } from './plan.ts';
import { because } from '../system/reason.ts';

/** Interval between two polls, in milliseconds. */
const LOOK_MS = 3000;

const CALL_MS = 30_000;

/** Subjects in one call that raises demands. */
const WANTED_AT_ONCE = 500;

export interface FleetParts {
  /** Surveys the programs on this machine, without measuring. */
  readonly prepare: Executor['prepare'];
  readonly sites: readonly { readonly site: Site }[];
  readonly team: Team;
  readonly database: QueueDatabase;
  readonly store: Store;
  readonly local: Exchange;
  /** Receives the number of open workloads after each poll. */
  readonly onLook: (open: number) => void;
}

/** `tune` rejects with `ServerError` if the first call does not reach the server, or if the server denies a call. */
export function executorOfFleet(parts: FleetParts): Executor {
  const { prepare, sites, team, database, local, onLook } = parts;
  return {
    prepare,
    async tune(works, again, index, { budgetSeconds, finishEarly, signal, onResult }) {
      const { site } = sites[index]!;
      const stop = AbortSignal.any([finishEarly, signal]);
      const end = performance.now() + 1000 * budgetSeconds;
      const results = new Map<string, Known>();
      const before = recordsFor([...again], site, parts.store);
      const undecided = new Map(
        works.flatMap(({ key, workload }) => {
          const reason = whyNotAlone(workload);
          return reason === null ? [] : [[key, vain(key, reason)] as const];
        }),
      );
      const open = () => works.filter(({ key }) => !results.has(key) && !undecided.has(key));
      const look = async () => {
        const { target, compiler } = placeOf(site);
        // Before the pull: workers push a record before they end its demand.
        const wanted = await wantedAt(team, site);
        const server = valueOf(await team.identify(CALL_MS));
        valueOf(await pull(team, local, { target, compiler }, server, CALL_MS));
        const keys = open().map(({ key }) => key);
        for (const [key, record] of recordsFor(keys, site, parts.store)) {
          const isNew = record.evidence.tuningSeconds !== before.get(key)?.evidence.tuningSeconds;
          if (!isNew && wanted.has(key)) continue;
          // The worker settled the demand with an older record: its budget for the workload is smaller than ours.
          const known: Known = { ...record, outcome: isNew ? 'tuned' : 'hit' };
          results.set(key, known);
          onResult(key, known);
        }
        const failed = await failures(wanted, database, site);
        for (const { key } of open()) {
          const reason = failed.get(key);
          if (reason !== undefined) undecided.set(key, vain(key, reason));
        }
        onLook(open().length);
      };
      await want(team, open(), site);
      while (open().length > 0 && !stop.aborted && performance.now() < end) {
        await sleep(LOOK_MS, undefined, { signal: stop }).catch(() => undefined);
        await look().catch((error: unknown) => {
          // Workers go on while the server is away.
          if (!(error instanceof ServerError) || error.failure.kind !== 'unreachable') throw error;
        });
      }
      return { results, undecided, whyNot: because('job-pending') };
    },
  };
}

const vain = (workload: string, reason: string) => ({
  ...{ workload, reason, budgetSeconds: 0, attempts: 1 },
  lastTriedAt: new Date().toISOString(),
});

/** The records that builds for this device use, those of its class included, by workload key. */
function recordsFor(keys: readonly string[], site: Site, store: Store): Map<string, TuningRecord> {
  const { target, compiler, device } = placeOf(site);
  const records = store.findRecords(keys, target, compiler);
  const found = new Map(recordsOfClass(records, site, store));
  for (const [key, some] of Map.groupBy(records, ({ workload }) => workload)) {
    const own = chooseRecord(some, device, true);
    if (own !== null) found.set(key, own);
  }
  return found;
}

async function want(team: Team, works: readonly Work[], site: Site): Promise<void> {
  for (let begun = 0; begun < works.length; begun += WANTED_AT_ONCE) {
    const subjects = works.slice(begun, begun + WANTED_AT_ONCE).map((work) => subjectOf(work, site));
    valueOf(await team.want(subjects.flatMap(partsOf), subjects.map(keysOf), CALL_MS));
  }
}

/** Demands for a site's device, by workload key. */
async function wantedAt(team: Team, site: Site): Promise<ReadonlyMap<string, Demand>> {
  const { target, compiler, device } = placeOf(site);
  const demands = valueOf(await allDemands(team, { target, compiler }, CALL_MS));
  return new Map(demands.flatMap((one) => (one.device === device ? [[one.workload, one] as const] : [])));
}

/** Reasons of refused demands and dead jobs of a site, by workload key. */
async function failures(
  wanted: ReadonlyMap<string, Demand>,
  database: QueueDatabase,
  site: Site,
): Promise<ReadonlyMap<string, string>> {
  const place = placeOfWorker(site);
  const isHere = (one: { target: string; compiler: string }) =>
    one.target === place.target && one.compiler === place.compiler;
  const dead = await deadJobs(database);
  return new Map([
    ...[...wanted.values()].flatMap(({ workload, refused }): [string, string][] =>
      refused === null ? [] : [[workload, refused]],
    ),
    ...dead
      .filter((one) => isHere(one) && one.device === place.device)
      .map(({ id, workload, reason }): [string, string] => [
        workload,
        `${reason} (iree-tuned team queue --retry ${id.slice(0, 8)} tries again)`,
      ]),
  ]);
}
