// A program to compile: its command, its input, its target and its device.
import type { Command } from '../compiler/command.ts';
import { inputIdentity } from '../compiler/command-identity.ts';
import type { Input } from '../input/input.ts';
import { operationsOf, type SurveyMeans } from '../input/operations.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import type { Site } from '../site/site.ts';
import { isReason } from '../system/reason.ts';

/** The input of a command, and its site. */
export interface Inspected {
  readonly input: Input;
  readonly site: Site;
}

/** A program, as written or in other forms. */
export interface FormedProgram {
  readonly command: Command;
  /** With the operations that the compiler makes of the forms. */
  readonly inspected: Inspected;
}

/**
 * The program of a command that was changed, with the operations that the compiler generates code for; null if the compiler
 * fails before code generation.
 */
export async function surveyed(
  command: Command,
  { input, site }: Inspected,
  surroundings: Surroundings,
  means: SurveyMeans = {},
): Promise<FormedProgram | null> {
  const read = { ...input, identity: inputIdentity(command, input.digest) };
  const found = await operationsOf(read, command, surroundings, means);
  if (isReason(found)) return null;
  const all = { ...read, ...found, waitedSeconds: input.waitedSeconds + found.waitedSeconds };
  return { command, inspected: { site, input: all } };
}
