// Messages about tuning on a terminal: one line that is updated in place, and one line with the result. Elsewhere it writes
// nothing.
import { writeFileSync } from 'node:fs';
import { parse } from 'node:path';
import { isatty } from 'node:tty';
import type { RoundsProgress } from '../program/tune-in-program.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import { makeFolder } from '../system/folder.ts';
import { INTRODUCED, pathIn, UNMEASURED, type Place } from '../system/cache.ts';
import { shortHash } from '../system/hash.ts';
import type { TuneOutcome } from '../tuning/tune-workloads.ts';
import type { TuningProgress } from '../tuning/search-job.ts';
import { lineDisplay, write } from './progress.ts';
import {
  beginning,
  ending,
  INTRODUCTION,
  progressLine,
  roundsLine,
  runningProgram,
  TRYING_FORMS,
  unmeasured,
  verdictSentence,
} from './sentences.ts';

export type Terminal = ReturnType<typeof terminalOf>;

/**
 * Writes to stderr if that is a terminal.
 * @param cacheDirectory remembers which messages were shown once; null for none of them
 */
export function terminalOf(cacheDirectory: string | null) {
  const { isLive, show, clear: erase } = lineDisplay();
  let redraw: NodeJS.Timeout | undefined;
  /** Removes the line that is updated in place. */
  const clear = () => {
    clearInterval(redraw);
    erase();
  };
  /** Shows a line, again each second, so that its seconds run down. */
  const countDown = (lineAfter: (seconds: number) => string) => {
    if (!isLive) return;
    clearInterval(redraw);
    const shown = clock();
    const draw = () => {
      show(lineAfter(clock() - shown));
    };
    draw();
    redraw = setInterval(draw, 1000).unref();
  };
  const { name } = parse(process.argv[1] ?? '');
  const say = (sentence: string | null) => {
    if (sentence === null || !isatty(2)) return;
    clear();
    write(`${name}: ${sentence}\n`);
  };
  const clock = () => performance.now() / 1000;
  let begun = clock();
  return {
    clear,
    /** @param count workloads to tune */
    begin(count: number, seconds: number) {
      begun = clock();
      if (isFirst(cacheDirectory, INTRODUCED)) say(INTRODUCTION);
      // Without a live line the terminal would stay empty for a minute.
      if (isLive) countDown((spent) => beginning(count, Math.max(0, seconds - spent)));
      else say(beginning(count, seconds));
    },
    progress(progress: TuningProgress) {
      countDown((spent) => progressLine(later(progress, spent)));
    },
    /** Progress of workloads that are tuned together, in the program. */
    rounds(progress: RoundsProgress) {
      countDown((spent) => roundsLine(later(progress, spent)));
    },
    /** @param count workloads that were to be tuned */
    end(count: number, { results, whyNot }: TuneOutcome) {
      say(ending([...results.values()], count - results.size, whyNot.reason, clock() - begun));
    },
    /** The program is compiled and run in other forms. */
    tryForms() {
      clear();
      show(TRYING_FORMS);
    },
    endForms(verdict: ProgramVerdict) {
      say(verdictSentence('the program with its operations in other forms', verdict));
    },
    runProgram(seconds: number) {
      countDown((spent) => runningProgram(Math.max(0, seconds - spent)));
    },
    endProgram(verdict: ProgramVerdict) {
      say(verdictSentence('the program', verdict));
    },
    /** This machine measures nothing for a backend. */
    measureNothing(backend: string, why: string) {
      if (isFirst(cacheDirectory, UNMEASURED, shortHash(why))) say(unmeasured(backend, why));
    },
  };
}

/** Progress with the seconds that are left after more time. */
const later = <P extends { readonly secondsLeft: number }>(progress: P, seconds: number): P => ({
  ...progress,
  secondsLeft: Math.max(0, progress.secondsLeft - seconds),
});

/** Whether a terminal is there, and no build with this cache folder has shown the message of a place. Remembers that a build has. */
function isFirst(cacheDirectory: string | null, place: Place, name?: string): boolean {
  if (cacheDirectory === null || !isatty(2)) return false;
  try {
    makeFolder(cacheDirectory, 0o700);
    writeFileSync(pathIn(cacheDirectory, place, name), '', { flag: 'wx' });
    return true;
  } catch {
    // The file exists, or cannot be written: then every build would show the message.
    return false;
  }
}
