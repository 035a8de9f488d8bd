// The counts of one compile, and statistics of the counts of many. Pure. Both sides of the names of counts stand here.
import { isDefault } from '../backend/configuration.ts';
import { isInjected, sourceOf, type Decision } from '../decision/decision.ts';
import type { Injection } from '../inject/plan.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import type { Reason } from '../system/reason.ts';

/** Sums by name. */
export type Counts = Readonly<Record<string, number>>;

export interface Counted {
  readonly decisions: readonly Decision[];
  readonly injection: Injection;
  /** Verdict of running the program; null if the program was not run. */
  readonly verdict?: ProgramVerdict | null;
  /** For each decision whether the executables have it; null if no build has looked. */
  readonly landed?: readonly (boolean | null)[] | null;
  /** Why the compile was repeated without tuning; null if it was not. */
  readonly fallback?: Reason | null;
  readonly tuningSeconds?: number;
}

/** Counts of a compile. One that is passed on unchanged has the decisions until then, and no injection. */
export function countsOf(compile: Counted): Counts {
  const { decisions, injection, verdict, landed, fallback = null, tuningSeconds = 0 } = compile;
  const counts: Record<string, number> = { compiles: 1 };
  const add = (name: string, by = 1) => {
    if (by !== 0) counts[name] = (counts[name] ?? 0) + by;
  };
  for (const decision of decisions) {
    const { outcome, code, configuration } = decision;
    add(`operations: ${outcome}`);
    if (outcome === 'hit') add(`hit: ${sourceOf(decision)}`);
    if (outcome === 'skipped' || outcome === 'default') add(`${outcome}: ${code}`);
    if (configuration !== null && isDefault(configuration)) add('default kept');
  }
  add('seconds tuning', tuningSeconds);
  if (verdict?.injected === true && verdict.code !== null) add(`not verified: ${verdict.code}`);
  if (fallback !== null) add(`fallback: ${fallback.code}`);
  else if (injection.route === 'none') add(`unchanged: ${injection.code}`);
  else {
    add(`route: ${injection.route}`);
    for (const [i, decision] of decisions.entries()) {
      if (!isInjected(decision)) continue;
      if (landed?.[i] === false) add('not applied');
      else if (decision.evidence !== null) {
        add('seconds per run by default', decision.evidence.defaultSeconds);
        add('seconds per run tuned', decision.evidence.seconds);
      }
    }
  }
  return counts;
}

export function sumOfCounts(all: readonly Counts[]): Counts {
  const sums: Record<string, number> = {};
  for (const counts of all)
    for (const [name, value] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + value;
  return sums;
}

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
    /** Hits by their source: see `sourceOf`. Earlier versions did not count it. */
    hits: group('hit'),
    /** Share of operations with a record among those that are not skipped; null without any. */
    hitRate: hit + tuned + left === 0 ? null : hit / (hit + tuned + left),
    /** Codes of reasons, by the outcome of a compile, an operation or a program. Earlier versions counted texts. */
    reasons,
    seconds: {
      tuning: of('seconds tuning'),
      /** Time of the injected operations of a program, once each; mean over the tuned compiles; null without any. */
      perRun: before > 0 ? { default: before, tuned: after, saved: before - after } : null,
    },
  };
}
