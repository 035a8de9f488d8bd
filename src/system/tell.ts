// Messages for a person: to a terminal and the log, into a captured stderr only after a failure.
import { appendFileSync, writeSync } from 'node:fs';

/**
 * Writes one line to stderr if it is a terminal, and to the log file if there is one. Never throws.
 * @param hasFailed the build has failed: then stderr gets the line in any case
 */
export function tell(message: string, log: string | undefined, hasFailed = false): void {
  const line = `iree-compile-tuned: ${message}\n`;
  try {
    // Not process.stderr: an access would make a pipe non-blocking for the compiler.
    if (hasFailed || process.getBuiltinModule('node:tty').isatty(2)) writeSync(2, line);
  } catch {
    // A closed terminal must not stop a build.
  }
  if (log !== undefined) writeLog(message, log);
}

/** Appends one line to the log file. Never throws. */
export function writeLog(message: string, log: string): void {
  try {
    appendFileSync(log, `${new Date().toISOString()} ${message}\n`);
  } catch {
    // Nor must an unwritable log.
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
