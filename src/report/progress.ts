// One line on a terminal while tuning.
import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { TuningProgress } from '../tuning/workload-search.ts';
import { formatSeconds } from '../system/format.ts';

/** Short enough for 80 columns with the sizes of most matmuls. */
export function progressLine(progress: TuningProgress): string {
  const { workload, stage, trials, defaultSeconds, bestSeconds, secondsLeft } = progress;
  const sizes = [...workload.matchAll(/=(\d+)/g)].map((match) => match[1]).join('x');
  const gain = Number.isFinite(bestSeconds)
    ? `, ${formatSeconds(defaultSeconds)} -> ${formatSeconds(bestSeconds)} (${(defaultSeconds / bestSeconds).toFixed(2)}x)`
    : '';
  const what = stage === 'finals' ? 'confirming' : `${trials} trials`;
  return `iree-tuned: ${sizes}: ${what}${gain}, ${Math.ceil(secondsLeft)} s left`;
}

/** A line that rewrites itself on a terminal; nothing at all elsewhere. */
export interface ProgressDisplay {
  show(progress: TuningProgress): void;
  clear(): void;
}

/** Shows progress on stderr. Written through the descriptor: Node's own stream would leave a pipe non-blocking. */
export function progressDisplay(): ProgressDisplay {
  if (!isatty(2)) return { show() {}, clear() {} };
  return {
    show(progress) {
      const line = progressLine(progress);
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
