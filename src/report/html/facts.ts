// The main numbers of a page, for its headline and for `--json`. Pure.
import { geometricMean, sumOf } from '../../measure/statistics.ts';
import type { PageData } from './data.ts';

export type Facts = ReturnType<typeof factsOf>;

export function factsOf({ records, tasks, searches, drift, history }: PageData) {
  const usable = records.filter(({ failure }) => failure === null);
  const faster = records.filter(({ outcome }) => outcome === 'faster');
  const best = faster.toSorted((a, b) => b.ratio - a.ratio)[0];
  const count = (kind: string) =>
    sumOf(tasks.filter((task) => task.kind === kind).map(({ items, more }) => items.length + more));
  return {
    records: records.length,
    workloads: new Set(records.map(({ key }) => key)).size,
    /** Number of sites with measurements. */
    places: new Set(records.map(({ place }) => place)).size,
    /** Records whose configuration is faster, whose default is best, and that are not used. */
    faster: faster.length,
    default: usable.length - faster.length,
    failed: records.length - usable.length,
    /** Records with an unfinished search. */
    incomplete: count('incomplete'),
    /** Mean gain of the faster records; null without any. */
    geometricMean: faster.length === 0 ? null : geometricMean(faster.map(({ ratio }) => ratio)),
    /** The largest gain. */
    best: best === undefined ? null : { workload: best.key, ratio: best.ratio },
    /** Time of one execution of each record, by default and as decided; null without records. */
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
    /** Records that can be compared with an earlier compiler. */
    compared: drift.length,
    missing: count('missing'),
    days: history.length,
  };
}
