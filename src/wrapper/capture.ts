// Captures a compile, and shows its stdout and messages later, as the compiler would have written them.
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '../compiler/command.ts';
import type { Surroundings } from '../settings/surroundings.ts';
import { piecesOfFile } from '../system/bytes.ts';
import { runCompiler, type RunOptions, type RunResult } from '../system/run.ts';
import { makeScratchFolder } from '../system/scratch.ts';

/** Maps messages about an edited copy to the user's input; null if the compiler reads the input itself. */
type MapMessages = ((messages: string) => string) | null;

/** A compile with its stdout and messages. */
export interface Captured extends RunResult {
  /** File with stdout; null if `stdout` has it. */
  readonly stdoutFile: string | null;
}

/** Runs the compiler, and captures stdout and messages. An output on stdout goes to a file, because it can be larger than the memory. */
export async function capture(
  { compiler: { executable }, arguments: { output } }: Command,
  argv: readonly string[],
  options: Omit<RunOptions, 'capture' | 'stdoutTo'>,
  cacheDirectory: string,
): Promise<Captured> {
  // The compiler does not write to the terminal. The user's own flag comes later and wins.
  const coloured = hasColours(options.env) ? ['--color', ...argv] : argv;
  const folder = output.kind === 'stdout' ? makeScratchFolder(cacheDirectory, 'stdout') : null;
  const stdoutFile = folder && join(folder, 'stdout');
  const stdoutTo = stdoutFile === null ? undefined : openSync(stdoutFile, 'w');
  try {
    const result = await runCompiler(executable, coloured, { ...options, capture: true, stdoutTo });
    return { ...result, stdoutFile };
  } finally {
    if (stdoutTo !== undefined) closeSync(stdoutTo);
  }
}

export const stdoutBytes = ({ stdout, stdoutFile }: Captured): number =>
  stdoutFile === null ? stdout.length : statSync(stdoutFile).size;

/** Writes stdout and messages. @returns the part of stdout that was written */
export function show(result: Captured, mapMessages: MapMessages): 'all' | 'a part' | 'nothing' {
  const { stdout, stdoutFile } = result;
  let written = 0;
  // Not through process.stdout: writes to a pipe would be lost when the process ends by a signal.
  for (const piece of stdoutFile === null ? [stdout] : piecesOfFile(stdoutFile)) {
    const length = writeAll(1, piece);
    written += length;
    if (length < piece.length) break;
  }
  writeAll(2, messagesOf(result, mapMessages));
  return written === stdoutBytes(result) ? 'all' : written > 0 ? 'a part' : 'nothing';
}

/** The messages as the user sees them. */
export const messagesOf = ({ stderr }: RunResult, mapMessages: MapMessages): Uint8Array =>
  mapMessages === null ? stderr : Buffer.from(mapMessages(stderr.toString()));

/** Whether the compiler colours its messages: on a terminal that can show them. */
export const hasColours = ({ TERM = '' }: Surroundings['env']): boolean =>
  process.getBuiltinModule('node:tty').isatty(2) &&
  /^(?:ansi|cygwin|linux|(?:screen|xterm|vt100|rxvt).*|.*color)$/.test(TERM);

/** Writes bytes, blocking. @returns the number of written bytes, smaller after an error such as a closed pipe */
export function writeAll(descriptor: number, bytes: Uint8Array): number {
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(descriptor, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') break;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
  return written;
}
