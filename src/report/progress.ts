// A line on a terminal that rewrites itself; nothing at all elsewhere.
import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';

export interface LineDisplay {
  readonly show: (line: string) => void;
  readonly clear: () => void;
}

const ERASE = '\r\u001b[2K';

/** Shows lines on stderr. */
export function lineDisplay(): LineDisplay {
  // One that cannot move its cursor would show all of them.
  if (!isatty(2) || process.env['TERM'] === 'dumb') return { show() {}, clear() {} };
  return {
    show(line) {
      write(`${ERASE}${line.slice(0, Math.max(20, columns() - 1))}`);
    },
    clear() {
      write(ERASE);
    },
  };
}

/** Written through the descriptor: Node's own stream would leave a pipe non-blocking. */
export function write(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // A terminal that was closed meanwhile.
  }
}

/** Asked of the terminal itself: COLUMNS is a variable of the shell, seldom handed on. */
export const columns = (): number => process.stderr.columns || 80;
