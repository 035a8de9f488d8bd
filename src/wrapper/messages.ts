// Writes stdout and messages of the compiler.
import { writeSync } from 'node:fs';
import type { Surroundings } from '../settings/surroundings.ts';

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
