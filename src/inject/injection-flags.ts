// Flags that give an injection to the compiler, and the compiler's messages about them.
import { preprocessingFlags } from '../spec/preprocessing.ts';
import { pipelineFlags } from '../spec/pipeline.ts';
import { tuningSpecFlags } from '../spec/tuning.ts';
import type { Injection } from './plan.ts';

/**
 * Flags for an injection by specs.
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

/** The edited text: the source of an executable, or the executable after the compiler has configured it. */
export type SubstitutePhase = 'source' | 'configuration';

export const substituteFlag = ({ name, path, phase }: SubstituteFile): string =>
  `--iree-hal-substitute-executable-${phase}=${name}=${path}`;

export interface SubstituteFile {
  /** Name of the executable. */
  readonly name: string;
  readonly path: string;
  readonly phase: SubstitutePhase;
}

/**
 * The compiler's messages without the notes about our substitutes. The programs that the compiler compiles to evaluate constants lack these
 * executables, and give warnings.
 */
export const withoutNotes = (messages: string, ours: readonly SubstituteFile[]): string =>
  messages.replace(
    // The note may begin with the end of the previous message's colour.
    // eslint-disable-next-line no-control-regex -- colours are made of them
    /^((?:\u001b\[[\d;]*m)*)(?:NOTE: hal\.executable `[^`\n]*` substituted with [^`\n]*`([^`\n]*)`|WARNING: iree-hal-substitute-executables could not perform the requested substitution as the executable `([^`\n]*)` was not found in the module)\n/gm,
    (note, colour: string, path?: string, missing?: string) =>
      ours.some((one) => one.path === path || one.name === missing) ? colour : note,
  );
