// A program with the operations that the compiler generates code for, which can differ from those of the text.
import type { Command } from '../compiler/command.ts';
import { inputIdentity } from '../compiler/command-identity.ts';
import { operationsOf, type SurveyMeans } from '../input/operations.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { isReason } from '../system/reason.ts';
import type { FormedProgram, Inspected } from './inspected.ts';

/** The program of a command that was changed; null if the compiler fails before code generation. */
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
