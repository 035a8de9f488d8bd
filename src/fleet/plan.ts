// From demands to jobs: the demands of all devices of a class make one job.
import { isKindOfWork, isWorkload, type Workload } from '../workload/workload.ts';
import type { RecordKey } from '../store/store.ts';
import type { Answer, Demand, Demands, Team } from '../team/team.ts';
import { deviceOf, whyNotAlone, type Job, type Place } from './job.ts';

export interface PlannedJob {
  readonly job: Job;
  /** Number of builds that asked for it. */
  readonly builds: number;
}

export interface Plan {
  readonly jobs: readonly PlannedJob[];
  /** Demands that no worker can do, with a reason that the server does not have yet. */
  readonly refused: readonly { readonly subject: RecordKey; readonly reason: string }[];
}

/** Demands for devices of a place's class. */
export function demandsAt({ lines, demands }: Demands, { device }: Place): readonly Demand[] {
  const forms = new Map(lines.flatMap((line) => (line.type === 'device' ? [[line.key, line.form]] : [])));
  return demands.filter((demand) => deviceOf(demand.device, forms.get(demand.device)) === device);
}

/** All pages of demands for one target and compiler. */
export async function allDemands(
  team: Team,
  place: Pick<RecordKey, 'target' | 'compiler'>,
  limitMs: number,
): Promise<Answer<readonly Demand[]>> {
  const all: Demand[] = [];
  for (;;) {
    const answer = await team.demands({ ...place, skip: all.length }, limitMs);
    if (!answer.ok) return answer;
    all.push(...answer.value.demands);
    if (!answer.value.more) return { ok: true, value: all };
  }
}

export function planJobs(wanted: Demands, place: Place): Plan {
  const forms = new Map(
    wanted.lines.flatMap((line) => (line.type === 'workload' ? [[line.key, line.form] as const] : [])),
  );
  const later = new Set(wanted.later.map((text) => (JSON.parse(text) as { key?: unknown }).key));
  const jobs = new Map<string, PlannedJob>();
  const refused: Plan['refused'][number][] = [];
  for (const { workload, device, builds, refused: known } of demandsAt(wanted, place)) {
    const form = forms.get(workload);
    // A later version of this program may understand it.
    if (later.has(workload) || (form === undefined && !isKindOfWork(workload.split(' ', 1)[0]!))) continue;
    const reason = whyNot(form);
    const { target, compiler } = place;
    if (reason !== null) {
      if (reason !== known) refused.push({ subject: { workload, target, compiler, device }, reason });
      continue;
    }
    const before = jobs.get(workload)?.builds ?? 0;
    const job: Job = { version: 1, ...place, workload, form: form as Workload };
    jobs.set(workload, { job, builds: before + builds });
  }
  return { jobs: [...jobs.values()], refused };
}

const whyNot = (form: unknown): string | null =>
  isWorkload(form) ? whyNotAlone(form) : 'no trusted login has sent its form';
