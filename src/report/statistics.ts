// What the counts of many compiles say. Pure. counts.ts gives them their names.
import type { Counts } from './counting.ts';

/** What the sums of many compiles say. Every compile is counted in one of `tuned`, `unchanged` and `fallback`. */
export interface Statistics {
  readonly compiles: {
    readonly all: number;
    readonly tuned: number;
    readonly unchanged: number;
    /** The injection made it fail, now or before, or nothing helps: done as if we were not there. */
    readonly fallback: number;
  };
  /** Tuned compiles by route. */
  readonly routes: Counts;
  readonly operations: {
    readonly hit: number;
    readonly tuned: number;
    readonly default: number;
    readonly skipped: number;
    /** Injected, and dropped by the compiler. */
    readonly notApplied: number;
  };
  /** Part of the operations that could be looked up that had a record; null when there were none. */
  readonly hitRate: number | null;
  /** Why, by what became of a compile, an operation, or a program with configurations. */
  readonly reasons: Readonly<
    Record<'unchanged' | 'fallback' | 'default' | 'skipped' | 'notVerified', Counts>
  >;
  /** Of compiles that something was missing for, where a team is set: what came of asking it. */
  readonly team: {
    /** By what came of it: it has answered; it could not be reached; it was asked a moment ago. */
    readonly asked: Counts;
    /** Workloads that were missing and are not any more. */
    readonly found: number;
    /** Lines from there that were not understood, or not what their digests say. */
    readonly ignored: number;
  };
  readonly seconds: {
    readonly tuning: number;
    /** The injected operations of a program, once each, on the average of the tuned compiles; null without any. */
    readonly perRun: { readonly default: number; readonly tuned: number; readonly saved: number } | null;
  };
}

export function statisticsOf(counts: Counts): Statistics {
  const of = (name: string) => counts[name] ?? 0;
  const group = (prefix: string): Counts =>
    Object.fromEntries(
      Object.entries(counts)
        .filter(([name]) => name.startsWith(`${prefix}: `))
        .map(([name, value]): [string, number] => [name.slice(prefix.length + 2), value])
        .sort(([a, x], [b, y]) => y - x || a.localeCompare(b)),
    );
  const total = (group: Counts) => Object.values(group).reduce((sum, value) => sum + value, 0);
  const routes = group('route');
  const reasons = {
    unchanged: group('unchanged'),
    fallback: group('fallback'),
    default: group('default'),
    skipped: group('skipped'),
    notVerified: group('not verified'),
  };
  const [hit, tuned, left] = ['hit', 'tuned', 'default'].map((name) => of(`operations: ${name}`)) as [
    number,
    number,
    number,
  ];
  const compiles = total(routes);
  const [before, after] = [
    of('seconds per run by default') / compiles,
    of('seconds per run tuned') / compiles,
  ];
  return {
    compiles: {
      all: of('compiles'),
      tuned: compiles,
      unchanged: total(reasons.unchanged),
      fallback: total(reasons.fallback),
    },
    routes,
    operations: {
      hit,
      tuned,
      default: left,
      skipped: of('operations: skipped'),
      notApplied: of('not applied'),
    },
    hitRate: hit + tuned + left === 0 ? null : hit / (hit + tuned + left),
    reasons,
    team: { asked: group('team'), found: of('team records'), ignored: of('team lines ignored') },
    seconds: {
      tuning: of('seconds tuning'),
      perRun: before > 0 ? { default: before, tuned: after, saved: before - after } : null,
    },
  };
}

/** What was counted on one day. */
export interface DayStatistics {
  /** `2026-01-31`, UTC. */
  readonly day: string;
  readonly statistics: Statistics;
}

/** Day by day, the first one first; days without compiles are left out, and compiles that no day is known of. */
export function historyOf(counts: Counts): DayStatistics[] {
  const days = new Map<string, Record<string, number>>();
  for (const [name, value] of Object.entries(counts)) {
    const [, day, counted] = /^(\d{4}-\d\d-\d\d) (.+)$/s.exec(name) ?? [];
    if (day === undefined) continue;
    const own = days.get(day) ?? {};
    own[counted!] = value;
    days.set(day, own);
  }
  return [...days]
    .map(([day, own]) => ({ day, statistics: statisticsOf(own) }))
    .sort((a, b) => (a.day < b.day ? -1 : 1));
}
