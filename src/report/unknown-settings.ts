// Flags and variables that start like a setting and are none, most likely typos.
import { NAMES, variableOf } from '../settings/settings.ts';
import { didYouMean } from './nearest.ts';

/** Variables that are no settings: of the launcher, of a child process and of tests. */
const OTHER_VARIABLES = ['IREE_TUNED_NODE', 'IREE_TUNED_DEPTH', 'IREE_TUNED_SHIM_FOR', 'IREE_TUNED_MACHINE'];

const message = (name: string, known: readonly string[]) =>
  `${name} is not a setting${didYouMean(name, known)}`;

/** A message for each unknown variable. */
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
