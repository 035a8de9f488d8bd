// Which dispatches of two programs of the same input are the same. Pure.
import type { DispatchTimes } from '../measure/dispatch-times.ts';

/**
 * Names of the first program by those of the second. Data tiling adds dispatches and counts the others anew, but leaves their
 * order: those that only differ in their numbers are the same in turn, where both programs have as many of them and call each
 * equally often. What is not known to be in both is left out.
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

/** A dispatch's name without its number. */
export const kindOf = (name: string): string => name.replace(NUMBER, '');

/** Names of each kind, by their numbers. */
function byKind(times: DispatchTimes): Map<string, string[]> {
  const numberOf = (name: string) => Number(NUMBER.exec(name)?.[0] ?? 0);
  const kinds = new Map<string, string[]>();
  for (const name of [...times.keys()].sort((a, b) => numberOf(a) - numberOf(b)))
    kinds.set(kindOf(name), [...(kinds.get(kindOf(name)) ?? []), name]);
  return kinds;
}
