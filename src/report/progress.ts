// A line on a terminal that is updated in place. Elsewhere it writes nothing.
import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';

export interface LineDisplay {
  /** Whether the terminal can update a line. */
  readonly isLive: boolean;
  /** Replaces the line. A text that is wider than the terminal is cut. */
  readonly show: (line: string) => void;
  /** Removes the line. */
  readonly clear: () => void;
}

const ERASE = '\r\u001b[2K';

/** The last line of stderr. */
export function lineDisplay(): LineDisplay {
  if (!isatty(2) || process.env['TERM'] === 'dumb') return { isLive: false, show() {}, clear() {} };
  return {
    isLive: true,
    show(line) {
      // A full line would begin another one.
      write(`${ERASE}${line.slice(0, columns() - 1)}`);
    },
    clear() {
      write(ERASE);
    },
  };
}

/** Writes through the descriptor: Node's own stream would leave a pipe non-blocking. */
export function write(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // The terminal is closed.
  }
}

/** Columns of the terminal. COLUMNS is a variable of the shell and is seldom exported. */
export const columns = (): number => process.stderr.columns || 80;
