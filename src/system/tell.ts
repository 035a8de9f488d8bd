// Telling a person something, never into a build's captured stderr.
import { appendFileSync, writeSync } from 'node:fs';

/** One line on stderr when that is a terminal, and in the log file when there is one. Never throws. */
export function tell(message: string, log: string | undefined): void {
  const line = `iree-compile-tuned: ${message}\n`;
  try {
    // Not process.stderr: merely looking at it would leave a pipe non-blocking for the compiler.
    if (process.getBuiltinModule('node:tty').isatty(2)) writeSync(2, line);
  } catch {
    // A terminal that is gone must not stop a build.
  }
  if (log !== undefined) writeLog(message, log);
}

/** One line in the log file. Never throws. */
export function writeLog(message: string, log: string): void {
  try {
    appendFileSync(log, `${new Date().toISOString()} ${message}\n`);
  } catch {
    // Neither must a log that cannot be written.
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
