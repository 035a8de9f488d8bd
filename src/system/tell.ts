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

let isLogBroken = false;

/** Appends one line to the log file, or tells a terminal once that it cannot. Never throws. */
export function writeLog(message: string, log: string): void {
  try {
    appendFileSync(log, `${new Date().toISOString()} ${message}\n`);
  } catch (error) {
    // Nor must an unwritable log. A build writes more than one line.
    if (!isLogBroken) tell(`the log cannot be written: ${messageOf(error)}`, undefined);
    isLogBroken = true;
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
