// The main numbers of a page, for its headline and for `--json`. Pure.
import { geometricMean, sumOf } from '../../measure/statistics.ts';
import type { PageData } from './data.ts';

export interface Facts {
  readonly records: number;
  readonly workloads: number;
  /** Number of sites with measurements. */
  readonly places: number;
  /** Records whose configuration is faster, whose default is best, and that are not used. */
  readonly faster: number;
  readonly default: number;
  readonly failed: number;
  /** Records with an unfinished search. */
  readonly incomplete: number;
  /** Mean gain of the faster records; null without any. */
  readonly geometricMean: number | null;
  /** The largest gain. */
  readonly best: { readonly workload: string; readonly ratio: number } | null;
  /** Time of one execution of each record, by default and as decided; null without records. */
  readonly seconds: { readonly default: number; readonly tuned: number } | null;
  readonly tuningSeconds: number;
  readonly searches: number;
  readonly trials: number;
  /** Records that can be compared with an earlier compiler. */
  readonly compared: number;
  readonly missing: number;
  readonly days: number;
}

export function factsOf({ records, tasks, searches, drift, history }: PageData): Facts {
  const usable = records.filter(({ failure }) => failure === null);
  const faster = records.filter(({ outcome }) => outcome === 'faster');
  const best = faster.toSorted((a, b) => b.ratio - a.ratio)[0];
  const count = (kind: string) =>
    sumOf(tasks.filter((task) => task.kind === kind).map(({ items, more }) => items.length + more));
  return {
    records: records.length,
    workloads: new Set(records.map(({ key }) => key)).size,
    places: new Set(records.map(({ place }) => place)).size,
    faster: faster.length,
    default: usable.length - faster.length,
    failed: records.length - usable.length,
    incomplete: count('incomplete'),
    geometricMean: faster.length === 0 ? null : geometricMean(faster.map(({ ratio }) => ratio)),
    best: best === undefined ? null : { workload: best.key, ratio: best.ratio },
    seconds:
      usable.length === 0
        ? null
        : {
            default: sumOf(usable.map(({ before }) => before)),
            tuned: sumOf(usable.map(({ after }) => after)),
          },
    tuningSeconds: sumOf(records.map(({ tuningSeconds }) => tuningSeconds)),
    searches: searches.length,
    trials: sumOf(searches.map(({ measured, failed }) => measured + sumOf(Object.values(failed)))),
    compared: drift.length,
    missing: count('missing'),
    days: history.length,
  };
}
