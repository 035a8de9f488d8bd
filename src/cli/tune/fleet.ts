// Hands the plan of `iree-tuned tune --fleet` to the fleet's workers, and waits for the records in the team's base.
import { runJob } from '../../base/job.ts';
import { jobFor } from '../../base/start.ts';
import { recordsOfClass } from '../../decision/same-class.ts';
import { placeOfWorker } from '../../fleet/job.ts';
import { executorHere } from '../../populate/executor.ts';
import type { Plan } from '../../populate/plan.ts';
import type { Populated } from '../../populate/populate.ts';
import type { PopulationSite } from '../../populate/site.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import type { Site } from '../../site/site.ts';
import { chooseRecord } from '../../store/choose.ts';
import type { Store, TuningRecord } from '../../store/store.ts';
import { placeOf } from '../../store/subject.ts';
import { openWithBases } from '../database.ts';
import { siteAt } from '../input.ts';
import { withQueue } from '../team/server.ts';
import { carryOut, type TimedRun } from './here.ts';

/** The site of a build, measurable by workers. */
export const atFleet = (at: PopulationSite, store: Store, surroundings: Surroundings): PopulationSite => ({
  ...at,
  site: { ...siteAt(at.site, store, surroundings), whyNotHere: null },
});

/** Asks the bases, whose records need no work. */
export const catchUp = (sites: readonly Site[], surroundings: Surroundings): Promise<void> =>
  runJob(jobFor({ places: sites.map(placeOf) }, surroundings));

/** Workers carry the plan out; the queue decides their order. */
export async function followFleet(
  plan: Plan,
  { sites, knowledge, budgetSeconds, folder }: TimedRun,
): Promise<Populated[]> {
  const [{ executorOfFleet }, { openQueue }] = await Promise.all([
    import('../../fleet/executor.ts'),
    import('../../fleet/queue.ts'),
  ]);
  const { surroundings } = knowledge;
  const here = executorHere(sites, knowledge, { tools: null, folder, jobs: 1 });
  return withQueue(surroundings, (database) =>
    carryOut(plan, budgetSeconds, Infinity, (show) =>
      executorOfFleet({
        sites,
        prepare: (planned) => here.prepare(planned),
        queueAt: (site) => openQueue(database, placeOfWorker(site)),
        recordsAt: async (keys, site) => {
          if (keys.length === 0) return new Map<string, TuningRecord>();
          await catchUp([site], surroundings);
          const store = await openWithBases(site, surroundings);
          const found = store === null ? new Map<string, TuningRecord>() : recordsFor(keys, site, store);
          store?.close();
          return found;
        },
        onLook: (open) => {
          show(`${open} handed to workers`);
        },
      }),
    ),
  );
}

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
