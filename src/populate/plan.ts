// The plan of a run: what is known, what comes twice, what is left out and why, and what is to be tuned, in which order. Pure.
import type { TuningRecord } from '../store/store.ts';
import type { Work } from '../tuning/tune-workloads.ts';
import { workloadFlops } from '../workload/workload.ts';
import { likelyGains, medianOf } from './gains.ts';
import type { Shape } from './shape.ts';

/** What is known of something that is asked for. */
export type Standing =
  | { readonly kind: 'new' }
  /** A search found nothing and did not end: it is gone on with. */
  | { readonly kind: 'unfinished' }
  | { readonly kind: 'known' }
  /** A whole dispatch: it is tuned in its program. */
  | { readonly kind: 'in program' }
  | { readonly kind: 'skipped'; readonly reason: string };

/** A workload that somebody asks for, for one site. */
export interface Asked {
  readonly work: Work;
  /** Index of the site among those of the run. */
  readonly site: number;
  /** Who asks: a model, a line of a list, a sweep, or the misses of builds. */
  readonly source: string;
  readonly standing: Standing;
  /** The shape that it is for, which is not surveyed yet; absent where the workload is what code is generated for. */
  readonly shape?: Shape;
}

/** One workload that is to be tuned. */
export interface Planned extends Omit<Asked, 'standing'> {
  readonly isUnfinished: boolean;
  /** How many times as fast as the default what is found is likely to be. */
  readonly likelyGain: number;
  /** Operations on numbers that tuning it is likely to be worth, in one run of every program that it stands for. */
  readonly likelySaving: number;
}

/** Something that is not tuned. */
export interface LeftOut {
  readonly what: string;
  readonly site: number;
  readonly source: string;
  readonly reason: string;
}

export interface Plan {
  /** What to tune, the most promising first. */
  readonly todo: readonly Planned[];
  /** What has a record. */
  readonly known: readonly Asked[];
  /** How often something was asked for that was asked for before. */
  readonly duplicates: number;
  readonly skipped: readonly LeftOut[];
  /** What one of them is likely to take, in seconds, and whether that was measured on this device. */
  readonly secondsEach: number;
  readonly isMeasured: boolean;
}

/** What a search takes on a machine that has done none. */
const LIKELY_SECONDS = 40;

/**
 * Plans a run. What is asked for more than once is tuned once, and counts as often.
 * @param skipped what has no workload
 * @param recordsOf the records that there are of a site
 */
export function planPopulation(
  asked: readonly Asked[],
  skipped: readonly LeftOut[],
  recordsOf: (site: number) => readonly TuningRecord[],
): Plan {
  const byKey = new Map<string, Asked>();
  for (const one of asked) {
    const key = `${one.site} ${one.work.key}`;
    const first = byKey.get(key);
    if (first === undefined) {
      byKey.set(key, one);
      continue;
    }
    const count = first.work.count + one.work.count;
    // What is surveyed already needs no more asking.
    const surveyed = first.shape === undefined ? first : one;
    byKey.set(key, { ...surveyed, source: first.source, work: { ...surveyed.work, count } });
  }
  const each = [...byKey.values()];
  const sites = [...new Set(each.map(({ site }) => site))];
  const records = new Map(sites.map((site) => [site, recordsOf(site)]));
  const gains = new Map(sites.map((site) => [site, likelyGains(records.get(site)!)]));
  const seconds = medianOf([...records.values()].flat().map(({ evidence }) => evidence.tuningSeconds));
  const todo = each.flatMap(({ standing, ...one }): Planned[] => {
    if (standing.kind !== 'new' && standing.kind !== 'unfinished') return [];
    const likelyGain = gains.get(one.site)!(one.work.key);
    const operations = workloadFlops(one.work.workload) * one.work.count;
    const likelySaving = operations * (1 - 1 / Math.max(LEAST_GAIN, likelyGain));
    return [{ ...one, isUnfinished: standing.kind === 'unfinished', likelyGain, likelySaving }];
  });
  return {
    todo: todo.toSorted((a, b) => b.likelySaving - a.likelySaving),
    known: each.filter(({ standing }) => standing.kind === 'known'),
    duplicates: asked.length - each.length,
    skipped: [
      ...skipped,
      ...each.flatMap(({ standing, work, site, source }) =>
        standing.kind === 'skipped' ? [{ what: work.key, site, source, reason: standing.reason }] : [],
      ),
    ],
    secondsEach: seconds ?? LIKELY_SECONDS,
    isMeasured: seconds !== null,
  };
}

/** What gains nothing where others are near may gain something all the same: large ones still come before small ones. */
const LEAST_GAIN = 1.01;

/** Seconds that a plan is likely to take. */
export const expectedSeconds = ({ todo, secondsEach }: Pick<Plan, 'todo' | 'secondsEach'>): number =>
  todo.length * secondsEach;
