// The differences of two lock files, for people. Pure.
import { entryKey, entryName, type Lock, type LockedProgram } from './lock.ts';
import { workloadText } from './text.ts';

/** Lines of a diff; empty for equal lock files. */
export function differences(before: Lock, after: Lock): string[] {
  const old = new Map(before.programs.map((entry) => [entryKey(entry), entry]));
  const now = new Map(after.programs.map((entry) => [entryKey(entry), entry]));
  const keys = [...new Set([...old.keys(), ...now.keys()])].sort();
  return keys.flatMap((key) => {
    const [a, b] = [linesOf(old.get(key)), linesOf(now.get(key))];
    const lines = [...new Set([...a.keys(), ...b.keys()])].flatMap((name) => {
      const [was, is] = [a.get(name), b.get(name)];
      if (was === is) return [];
      return [...(was === undefined ? [] : [`- ${was}`]), ...(is === undefined ? [] : [`+ ${is}`])];
    });
    return lines.length === 0 ? [] : [`  ${entryName((old.get(key) ?? now.get(key))!)}`, ...lines];
  });
}

/** Lines of an entry by their subject. */
function linesOf(entry: LockedProgram | undefined): Map<string, string> {
  if (entry === undefined) return new Map();
  const { forms, workloads, ...fields } = entry;
  return new Map([
    ...Object.entries(fields)
      .sort()
      .map(([name, value]): [string, string] => [name, `${name}: ${JSON.stringify(value)}`]),
    ...[...forms].sort().map(([key, form]): [string, string] => [`form ${key}`, `${key}: as ${form}`]),
    ...[...workloads]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, workload]): [string, string] => [`workload ${key}`, `${key}: ${workloadText(workload)}`]),
  ]);
}
