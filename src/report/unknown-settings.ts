// Flags and variables that start like a setting and are none, most likely typos.
import { NAMES, variableOf } from '../settings/settings.ts';

/** Variables that are no settings: of the launcher, of a child process and of tests. */
const OTHER_VARIABLES = ['IREE_TUNED_NODE', 'IREE_TUNED_DEPTH', 'IREE_TUNED_SHIM_FOR', 'IREE_TUNED_MACHINE'];

const message = (name: string, known: readonly string[]) =>
  `${name} is not a setting${didYouMean(name, known)}`;

export function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = [...NAMES.map(variableOf), ...OTHER_VARIABLES];
  return Object.keys(env)
    .filter((name) => name.startsWith('IREE_TUNED_') && !known.includes(name))
    .map((name) => message(name, known));
}

/** A message about the first unknown flag of a compiler's command line without settings; null for none. */
export function unknownFlag(argv: readonly string[]): string | null {
  const flag = argv.find((argument) => /^--?iree-tuned-/.test(argument))?.replace(/=.*/s, '');
  const known = NAMES.map((name) => `--iree-tuned-${name}`);
  return flag === undefined ? null : message(flag, known);
}

/** Largest share of wrong characters in a name. */
const LARGEST_SHARE = 0.4;

/** ` (did you mean ...?)` with the nearest name; empty without a near name. */
export function didYouMean(typed: string, names: readonly string[]): string {
  const most = Math.max(1, Math.floor(LARGEST_SHARE * typed.length));
  const found = names
    .map((name) => ({ name, distance: distanceOf(typed, name) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance)[0];
  return found === undefined ? '' : ` (did you mean ${found.name}?)`;
}

/** Edit distance: insertions, deletions and replacements. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++)
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (a[i] === b[j] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
