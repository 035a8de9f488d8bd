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

export function factsOf(data: PageData): Facts {
  const { records, texts } = data;
  const all = [...records.workload.keys()];
  const usable = all.filter((i) => records.failure[i] === -1);
  const isDefault = (i: number) => texts[records.kind[i]!] === 'default';
  const faster = usable.filter((i) => !isDefault(i));
  const best = faster.toSorted((a, b) => records.ratio[b]! - records.ratio[a]!)[0];
  const secondsOf = (i: number) => (isDefault(i) ? records.defaultSeconds[i]! : records.seconds[i]!);
  const count = (kind: string) =>
    sumOf(data.tasks.filter((task) => task.kind === kind).map(({ items, more }) => items.length + more));
  return {
    records: all.length,
    workloads: data.workloads.key.length,
    places: new Set(records.place).size,
    faster: faster.length,
    default: usable.length - faster.length,
    failed: all.length - usable.length,
    incomplete: count('incomplete'),
    geometricMean: faster.length === 0 ? null : geometricMean(faster.map((i) => records.ratio[i]!)),
    best:
      best === undefined
        ? null
        : { workload: data.workloads.key[records.workload[best]!]!, ratio: records.ratio[best]! },
    seconds:
      usable.length === 0
        ? null
        : {
            default: sumOf(usable.map((i) => records.defaultSeconds[i]!)),
            tuned: sumOf(usable.map(secondsOf)),
          },
    tuningSeconds: sumOf(records.tuningSeconds),
    searches: data.searches.length,
    trials: sumOf(data.searches.map(({ measured, failed }) => measured + sumOf(Object.values(failed)))),
    compared: data.drift.length,
    missing: count('missing'),
    days: data.history.length,
  };
}
