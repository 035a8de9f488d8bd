// The outcome of the user's command that is there already, put where the compiler would have written it.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../compiler/command.ts';
import { givesOnlyOutput } from '../compiler/flag-roles.ts';
import { copyOver } from '../system/bytes.ts';
import { makeScratchFolder } from '../system/scratch.ts';

/**
 * Whether a copy of the same module leaves everything as the compiler would: the output is a file, and no flag asks for
 * anything else.
 */
export function canDeliver({ arguments: { output, flags } }: Command): boolean {
  if (output.kind !== 'file' || !givesOnlyOutput(flags)) return false;
  const status = statSync(output.path, { throwIfNoEntry: false });
  return status === undefined || status.isFile();
}

/**
 * Writes a file as the output.
 * @returns whether it did: not where only the compiler can write it, and not where there is no room for it, say, which the compiler
 * itself tells best
 */
export function deliverFile(module: string, command: Command): boolean {
  const { output } = command.arguments;
  if (output.kind !== 'file' || !canDeliver(command)) return false;
  try {
    // As the compiler does: into an existing file, or a new file with default rights.
    return copyOver(module, output.path);
  } catch {
    return false;
  }
}

/**
 * Scratch path for the output. A failed compile removes its output file, and with it the mode and links of the user's file. Null if the
 * output is no regular file.
 */
export function heldOutput(command: Command, cacheDirectory: string): string | null {
  const folder = canDeliver(command) ? makeScratchFolder(cacheDirectory, 'output') : null;
  return folder && join(folder, 'output');
}
