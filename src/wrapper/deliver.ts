// The outcome of the user's command that is there already, put where the compiler would have written it.
import { statSync } from 'node:fs';
import type { Command, Compile } from '../compiler/command.ts';
import { givesOnlyOutput } from '../compiler/flag-roles.ts';
import { readBytes, writeSlices } from '../system/bytes.ts';
import type { KeptModules } from './kept-modules.ts';

/**
 * Gives what delivers the outcome of a compile, and says whether it did: not where it is not kept, and not where there is no
 * room for it, say, which the compiler itself tells best.
 */
export async function deliveryOf(
  compile: Compile,
  kept: KeptModules,
  command: Command,
): Promise<() => boolean> {
  const module = await kept.find(compile);
  return () => module !== null && canDeliver(command) && deliverFile(module, command);
}

/**
 * Whether a copy of the same module leaves everything as the compiler would: the output is a file, and no flag asks for
 * anything else.
 */
export function canDeliver({ arguments: { output, flags } }: Command): boolean {
  if (output.kind !== 'file' || !givesOnlyOutput(flags)) return false;
  const status = statSync(output.path, { throwIfNoEntry: false });
  return status === undefined || status.isFile();
}

/** Writes a file as the output; false where that fails. */
export function deliverFile(module: string, { arguments: { output } }: Command): boolean {
  if (output.kind !== 'file') return false;
  try {
    // As the compiler does: into what is there, or a new file with the rights of one.
    writeSlices(output.path, [readBytes(module)]);
    return true;
  } catch {
    return false;
  }
}
