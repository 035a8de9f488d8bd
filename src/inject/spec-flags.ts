// How the specs of an injection are given to the compiler.
import { preprocessingFlags } from '../spec/preprocessing.ts';
import { tuningSpecFlags } from '../spec/tuning.ts';
import type { Injection } from './plan.ts';

/** Flags for an injection by specs; `write` keeps a text in a file and says where. */
export function specFlags(
  injection: Extract<Injection, { readonly text: string }>,
  write: (text: string) => string,
): string[] {
  const path = write(injection.text);
  if (injection.route === 'spec') return tuningSpecFlags(path);
  const { flags, following } = injection;
  return [
    ...preprocessingFlags(path),
    ...flags,
    ...(following === null ? [] : tuningSpecFlags(write(following))),
  ];
}
