// One line on a terminal while tuning.
import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { TuningProgress } from '../tuning/workload-search.ts';
import { formatSeconds } from '../system/format.ts';

/** Short enough for 80 columns with the sizes of most matmuls. */
export const progressLine = (progress: TuningProgress): string =>
  `iree-tuned: ${searchText(progress)}, ${Math.ceil(progress.secondsLeft)} s left`;

/** How far one search is. */
export function searchText(progress: Omit<TuningProgress, 'secondsLeft'>): string {
  const { workload, stage, trials, defaultSeconds, bestSeconds } = progress;
  const sizes = [...workload.matchAll(/=(\d+)/g)].map((match) => match[1]).join('x');
  const gain = Number.isFinite(bestSeconds)
    ? `, ${formatSeconds(defaultSeconds)} -> ${formatSeconds(bestSeconds)} (${(defaultSeconds / bestSeconds).toFixed(2)}x)`
    : '';
  const what = stage === 'finals' ? 'confirming' : `${trials} trials`;
  return `${sizes}: ${what}${gain}`;
}

/** A line that rewrites itself on a terminal; nothing at all elsewhere. */
export interface Display<T> {
  show(what: T): void;
  clear(): void;
}

/** Shows progress on stderr. */
export function progressDisplay(): Display<TuningProgress> {
  const display = lineDisplay();
  return {
    show(progress) {
      display.show(progressLine(progress));
    },
    clear() {
      display.clear();
    },
  };
}

/** Shows lines on stderr. Written through the descriptor: Node's own stream would leave a pipe non-blocking. */
export function lineDisplay(): Display<string> {
  if (!isatty(2)) return { show() {}, clear() {} };
  return {
    show(line) {
      write(`\r\u001b[2K${line.slice(0, Math.max(20, terminalColumns() - 1))}`);
    },
    clear() {
      write('\r\u001b[2K');
    },
  };
}

function write(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // A terminal that was closed meanwhile.
  }
}

function terminalColumns(): number {
  // Asked of the terminal itself: COLUMNS is a variable of the shell, seldom handed on.
  return process.stderr.columns || 80;
}
