// What is in a page, in a few numbers: for its headline, and for who asks for JSON. Pure.
import { geometricMean, sumOf } from '../../measure/statistics.ts';
import type { PageData } from './data.ts';

export interface Facts {
  readonly records: number;
  readonly workloads: number;
  /** Sites that something was measured at. */
  readonly places: number;
  /** Records whose configuration is faster than the default; where the default is best; that must not be used. */
  readonly faster: number;
  readonly default: number;
  readonly failed: number;
  /** Records whose search did not end. */
  readonly incomplete: number;
  /** Of the gains of the faster ones; null without any. */
  readonly geometricMean: number | null;
  /** The largest gain. */
  readonly best: { readonly workload: string; readonly ratio: number } | null;
  /** One execution of each, with the defaults and as they are decided; null without records. */
  readonly seconds: { readonly default: number; readonly tuned: number } | null;
  readonly tuningSeconds: number;
  readonly searches: number;
  readonly trials: number;
  /** Records that there is one of the compiler before for. */
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
