// Matches the dispatches of two programs compiled from the same input. Pure.
import type { DispatchTimes } from '../backend/meter.ts';

/**
 * Maps names of the second program's dispatches to names of the first's. Data tiling adds dispatches and so changes the numbers in
 * names, but keeps the order. Names that differ only in their number are therefore matched in order, if both programs have equally many
 * of them with equal numbers of calls. Other dispatches are left out.
 */
export function sameDispatches(first: DispatchTimes, second: DispatchTimes): ReadonlyMap<string, string> {
  const alike = byKind(first);
  return new Map(
    [...byKind(second)].flatMap(([kind, names]) => {
      const others = alike.get(kind) ?? [];
      const areSame =
        others.length === names.length &&
        names.every((name, i) => second.get(name)!.calls === first.get(others[i]!)!.calls);
      return areSame ? names.map((name, i) => [name, others[i]!] as const) : [];
    }),
  );
}

const NUMBER = /(?<=_dispatch_)\d+/;

/** Name of a dispatch without the number. */
export const kindOf = (name: string): string => name.replace(NUMBER, '');

/** Names of each kind, in the order of their numbers. */
function byKind(times: DispatchTimes): Map<string, string[]> {
  const numberOf = (name: string) => Number(NUMBER.exec(name)?.[0] ?? 0);
  const names = [...times.keys()].sort((a, b) => numberOf(a) - numberOf(b));
  return Map.groupBy(names, kindOf);
}
