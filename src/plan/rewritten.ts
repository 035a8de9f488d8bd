// A program with its operations rewritten into other forms.
import type { Command } from '../compiler/command.ts';
import { inputIdentity } from '../compiler/command-identity.ts';
import type { FormChoice } from '../form/choose.ts';
import { rewritableKey } from '../form/rewritable.ts';
import { operationsOf, type SurveyMeans } from '../input/operations.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { rewritingPasses } from '../spec/pipeline.ts';
import { compare } from '../store/claim.ts';
import { isReason } from '../system/reason.ts';
import type { FormedProgram, Inspected } from './inspected.ts';
import { textWriter } from './write-once.ts';

/** The command with its operations in these forms. */
export async function rewritten(
  command: Command,
  choices: readonly FormChoice[],
  { cacheDirectory }: Surroundings,
): Promise<Command> {
  // Loaded only for programs with convolutions or attentions.
  const { formsSpec, REWRITE } = await import('../form/spec.ts');
  // The order of the program's operations means nothing.
  const sorted = choices.toSorted((a, b) => compare(rewritableKey(a.operation), rewritableKey(b.operation)));
  const write = await textWriter(cacheDirectory);
  const path = write(formsSpec(sorted));
  return { ...command, rewriting: { pass: rewritingPasses(path, REWRITE), path } };
}

/** The program with the operations that the compiler makes of its forms; null if the compiler fails before. */
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
