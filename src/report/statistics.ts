// Statistics of the counts of many compiles. Pure. counts.ts gives the counts their names.
import type { Counts } from './counting.ts';

export type Statistics = ReturnType<typeof statisticsOf>;

export function statisticsOf(counts: Counts) {
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
  const outcome = (name: string) => of(`operations: ${name}`);
  const [hit, tuned, left] = [outcome('hit'), outcome('tuned'), outcome('default')];
  const compiles = total(routes);
  const before = of('seconds per run by default') / compiles;
  const after = of('seconds per run tuned') / compiles;
  return {
    /** Every compile counts in exactly one of `tuned`, `unchanged` and `fallback`. */
    compiles: {
      all: of('compiles'),
      tuned: compiles,
      unchanged: total(reasons.unchanged),
      /** The tuned compile failed, now or before: the compiler's own command ran. */
      fallback: total(reasons.fallback),
    },
    /** Tuned compiles by route. */
    routes,
    operations: {
      hit,
      tuned,
      /** Hit or tuned, with a result that keeps the default. */
      defaultKept: of('default kept'),
      /** Left to the default for another reason. */
      default: left,
      skipped: outcome('skipped'),
      /** Injected, but no executable has the configuration. */
      notApplied: of('not applied'),
    },
    /** Share of operations with a record among those that are not skipped; null without any. */
    hitRate: hit + tuned + left === 0 ? null : hit / (hit + tuned + left),
    /** Codes of reasons, by the outcome of a compile, an operation or a program. Earlier versions counted texts. */
    reasons,
    /**
     * Questions to the team's server by compiles with a miss: `asked` by outcome (answered, unreachable, or asked a moment before), the
     * misses that the server had a record for, and its lines that were not understood or did not match their digest.
     */
    team: { asked: group('team'), found: of('team records'), ignored: of('team lines ignored') },
    seconds: {
      tuning: of('seconds tuning'),
      /** Time of the injected operations of a program, once each; mean over the tuned compiles; null without any. */
      perRun: before > 0 ? { default: before, tuned: after, saved: before - after } : null,
    },
  };
}

/** The counts of one day. */
export interface DayStatistics {
  /** `2026-01-31`, UTC. */
  readonly day: string;
  readonly statistics: Statistics;
}

/** Beginning of a count of one day; see `datedName`. */
const DATED = /^\d{4}-\d\d-\d\d ./;

/** Statistics by day, oldest first, without days that have no compiles. Compiles of an unknown day are left out. */
export function historyOf(counts: Counts): DayStatistics[] {
  const dated = Object.entries(counts).filter(([name]) => DATED.test(name));
  return [...Map.groupBy(dated, ([name]) => name.slice(0, 10))]
    .map(([day, own]) => ({ day, own: own.map(([name, value]) => [name.slice(11), value] as const) }))
    .map(({ day, own }) => ({ day, statistics: statisticsOf(Object.fromEntries(own)) }))
    .sort((a, b) => (a.day < b.day ? -1 : 1));
}
