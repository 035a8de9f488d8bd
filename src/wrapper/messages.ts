// Shows the stdout and the messages of a captured compile.
import { writeSync } from 'node:fs';
import type { Surroundings } from '../settings/surroundings.ts';
import type { RunResult } from '../system/run.ts';

/** Maps messages about an edited copy to the user's input; null if the compiler reads the input itself. */
export type MapMessages = ((messages: string) => string) | null;

/** Whether the compiler colours its messages: on a terminal that can show them. */
export const hasColours = ({ TERM = '' }: Surroundings['env']): boolean =>
  process.getBuiltinModule('node:tty').isatty(2) &&
  /^(?:ansi|cygwin|linux|(?:screen|xterm|vt100|rxvt).*|.*color)$/.test(TERM);

/** Adds a flag for colours, because the compiler writes to a pipe. The user's own flag comes later and wins. */
export const withColours = (argv: readonly string[], env: Surroundings['env']): readonly string[] =>
  hasColours(env) ? ['--color', ...argv] : argv;

/** Writes stdout and messages. @returns the part of stdout that was written */
export function show(result: RunResult, mapMessages: MapMessages): 'all' | 'a part' | 'nothing' {
  // Not through process.stdout: writes to a pipe would be lost when the process ends by a signal.
  const written = writeAll(1, result.stdout);
  writeMessages(messagesOf(result, mapMessages));
  return written === result.stdout.length ? 'all' : written > 0 ? 'a part' : 'nothing';
}

/** Writes messages of the compiler. */
export const writeMessages = (messages: Uint8Array): void => void writeAll(2, messages);

/** The messages as the user sees them. */
export const messagesOf = ({ stderr }: RunResult, mapMessages: MapMessages): Uint8Array =>
  mapMessages === null ? stderr : Buffer.from(mapMessages(stderr.toString()));

/** Writes bytes, blocking. @returns the number of written bytes, smaller after an error such as a closed pipe */
function writeAll(descriptor: number, bytes: Uint8Array): number {
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
