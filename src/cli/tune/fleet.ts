// Hands the plan of `iree-tuned tune --fleet` to the team's workers, and waits for the results.
import { executorHere } from '../../populate/executor.ts';
import type { Plan } from '../../populate/plan.ts';
import type { Populated } from '../../populate/populate.ts';
import type { PopulationSite } from '../../populate/site.ts';
import type { Surroundings } from '../../settings/surroundings.ts';
import type { Store } from '../../store/store.ts';
import { placeOf } from '../../store/subject.ts';
import { pull } from '../../team/exchange.ts';
import { carryOut, type TimedRun } from './here.ts';
import { exchanging } from '../database.ts';
import { siteAt } from '../input.ts';
import { COMMAND_LIMIT_MS, valueOf, withQueue, withTeam } from '../team/server.ts';

/** The site of a build, measurable by workers. */
export const atFleet = (at: PopulationSite, store: Store, surroundings: Surroundings): PopulationSite => ({
  ...at,
  site: { ...siteAt(at.site, store, surroundings), whyNotHere: null },
});

/** Pulls the records of the team, which need no work. */
export const catchUp = (sites: readonly PopulationSite[], surroundings: Surroundings): Promise<void> =>
  withTeam(surroundings, async (team) => {
    const server = valueOf(await team.identify(COMMAND_LIMIT_MS));
    await exchanging(surroundings, async (local) => {
      for (const { site } of sites) {
        const { target, compiler } = placeOf(site);
        valueOf(await pull(team, local, { target, compiler }, server, COMMAND_LIMIT_MS));
      }
    });
  });

/** Workers carry the plan out; the queue decides their order. */
export async function followFleet(
  plan: Plan,
  { sites, knowledge, budgetSeconds, folder }: TimedRun,
): Promise<Populated[]> {
  const { executorOfFleet } = await import('../../fleet/executor.ts');
  const { store, surroundings } = knowledge;
  const here = executorHere(sites, knowledge, { tools: null, folder, jobs: 1 });
  return exchanging(surroundings, (local) =>
    withQueue(surroundings, (database) =>
      withTeam(surroundings, (team) =>
        carryOut(plan, budgetSeconds, Infinity, (show) =>
          executorOfFleet({
            ...{ sites, team, database, store, local },
            prepare: (planned) => here.prepare(planned),
            onLook: (open) => {
              show(`${open} handed to workers`);
            },
          }),
        ),
      ),
    ),
  );
}
