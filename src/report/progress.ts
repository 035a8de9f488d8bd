// A line on a terminal that is updated in place. Elsewhere it writes nothing.
import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { pageOn } from './page.ts';

const ERASE = '\r\u001b[2K';

/** The last line of stderr. Its functions do nothing if the terminal cannot update a line. */
export function lineDisplay() {
  const isLive = isatty(2) && process.env['TERM'] !== 'dumb';
  return {
    /** Whether the terminal can update a line. */
    isLive,
    /** Replaces the line. A text that is wider than the terminal is cut: a full line would begin another line. */
    show: (line: string) => {
      if (isLive) write(`${ERASE}${line.slice(0, pageOn(process.stderr).columns - 1)}`);
    },
    /** Removes the line. */
    clear: () => {
      if (isLive) write(ERASE);
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
