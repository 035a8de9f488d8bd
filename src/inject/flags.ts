// How the specs of an injection are given to the compiler.
import type { Injection } from './plan.ts';
import { preprocessingFlags } from './preprocess.ts';
import { tuningSpecFlags } from './spec.ts';

/** Flags for an injection by specs; `write` keeps a text in a file and says where. */
export function specFlags(
  injection: Extract<Injection, { readonly text: string }>,
  write: (text: string) => string,
): string[] {
  const path = write(injection.text);
  if (injection.route === 'spec') return tuningSpecFlags(path);
  const { dataTiling, packed } = injection;
  return [
    ...preprocessingFlags(path, dataTiling),
    ...(packed === null ? [] : tuningSpecFlags(write(packed))),
  ];
}
