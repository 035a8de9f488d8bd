// Copies a finished module to the user's path, as the compiler would have written it.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../compiler/command.ts';
import { givesOnlyOutput } from '../compiler/flag-roles.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { copyOver } from '../system/bytes.ts';
import { makeScratchFolder } from '../system/scratch.ts';
import { OUTPUTS_LIMIT } from './outputs.ts';

/** Whether a copy of the module equals a compile: the output is a file, and no flag asks for other files. */
export function canDeliver({ arguments: { output, flags } }: Command): boolean {
  if (output.kind !== 'file' || !givesOnlyOutput(flags)) return false;
  const status = statSync(output.path, { throwIfNoEntry: false });
  return status === undefined || status.isFile();
}

/** Writes a file as the output. @returns false if only the compiler can write it, or if the copy fails */
export function deliverFile(module: string, command: Command): boolean {
  const { output } = command.arguments;
  if (output.kind !== 'file' || !canDeliver(command)) return false;
  try {
    // Like the compiler, writes into the existing file, or into a new file with default permissions.
    return copyOver(module, output.path);
  } catch {
    return false;
  }
}

/**
 * Scratch path for the output of a compile that may fail. The compiler removes its output file if it fails, and an old file would lose its
 * mode and links.
 * @param mayFallBack whether the user gets an output in any case
 * @returns null if the compiler can write to the user's path at once: there is nothing to lose, the output is no regular file, an output of
 *   its size is not held, or nothing can be written to the cache
 */
export function heldOutput(
  command: Command,
  mayFallBack: boolean,
  { cacheDirectory }: Pick<Surroundings, 'cacheDirectory'>,
): string | null {
  const { output } = command.arguments;
  if (output.kind !== 'file' || !canDeliver(command)) return null;
  const old = statSync(output.path, { throwIfNoEntry: false });
  const isWorthIt = old === undefined ? !mayFallBack : old.size <= OUTPUTS_LIMIT;
  const folder = isWorthIt ? makeScratchFolder(cacheDirectory, 'output') : null;
  return folder && join(folder, 'output');
}
