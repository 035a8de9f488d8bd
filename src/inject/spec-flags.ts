// Flags that give the specs of an injection to the compiler.
import { preprocessingFlags } from '../spec/preprocessing.ts';
import { pipelineFlags } from '../spec/pipeline.ts';
import { tuningSpecFlags } from '../spec/tuning.ts';
import type { Injection } from './plan.ts';

/**
 * Flags for an injection by specs.
 * @param write writes a text into a file, and returns its path
 * @param passes passes that rewrite the program first
 */
export function specFlags(
  injection: Extract<Injection, { readonly text: string }>,
  write: (text: string) => string,
  passes: readonly string[] = [],
): string[] {
  const path = write(injection.text);
  if (injection.route === 'spec') return tuningSpecFlags(path, passes, injection.flag);
  const { flags, following } = injection;
  const last = following === null ? pipelineFlags(passes) : tuningSpecFlags(write(following), passes);
  return [...preprocessingFlags(path), ...flags, ...last];
}
