// Messages about tuning on a terminal: one line that is updated in place, and one line with the result. Elsewhere it writes
// nothing.
import { writeFileSync } from 'node:fs';
import { parse } from 'node:path';
import { isatty } from 'node:tty';
import type { RoundsProgress } from '../program/tune-in-program.ts';
import { isDefault, type Configuration } from '../backend/configuration.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import { makeFolder } from '../system/folder.ts';
import { INTRODUCED, pathIn, UNMEASURED, type Place } from '../system/cache.ts';
import { counted, formatDuration, formatRatio } from '../system/format.ts';
import { shortHash } from '../system/hash.ts';
import { resultOr } from '../system/result-or.ts';
import type { TuneOutcome } from '../tuning/tune-workloads.ts';
import type { TuningProgress } from '../tuning/search-job.ts';
import { lineDisplay, write } from './progress.ts';

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
      show('compiling and running the program with its operations in other forms');
    },
    endForms(verdict: ProgramVerdict) {
      say(verdictSentence('the program with its operations in other forms', verdict));
    },
    runProgram(seconds: number) {
      countDown((spent) => {
        const left = formatDuration(Math.ceil(Math.max(0, seconds - spent)));
        return `running the program, stock against tuned, for ${left} at most`;
      });
    },
    endProgram(verdict: ProgramVerdict) {
      say(verdictSentence('the program', verdict));
    },
    /** For the first build with a miss that this machine cannot measure. */
    measureNothing(backend: string, why: string) {
      if (isFirst(cacheDirectory, UNMEASURED, shortHash(why)))
        say(
          `${backend} is not tuned here: ${why}. iree-tuned db import or the setting team brings records of other ` +
            'machines (said once)',
        );
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
  // If the file cannot be written, every build would show the message.
  return resultOr(() => {
    makeFolder(cacheDirectory, 0o700);
    writeFileSync(pathIn(cacheDirectory, place, name), '', { flag: 'wx' });
    return true;
  }, false);
}

/** A longer list is summed up. */
const MOST_NAMED = 3;

/** The first line of tuning. */
export const beginning = (count: number, seconds: number): string =>
  `tuning ${counted(count, 'operation')} for ${formatDuration(Math.ceil(seconds))} at most`;

/** Shown by the first build that tunes. */
export const INTRODUCTION =
  'later builds find the result. IREE_TUNED_BUDGET=0 builds without tuning, IREE_TUNED_DISABLE=1 is plain ' +
  'iree-compile (said once)';

const timeLeft = (seconds: number) => `${Math.ceil(seconds)} s left`;

/** The state of one search: the time left, the workload, and the best so far. A terminal cuts the end of a long line. */
export function progressLine(progress: TuningProgress): string {
  const { stage, secondsLeft, workloads, decided } = progress;
  const verb = stage === 'finals' ? 'confirming' : 'tuning';
  const done = workloads === 1 ? '' : `, ${decided} of ${workloads} done`;
  return `${timeLeft(secondsLeft)}${done}: ${verb} ${searchInWords(progress)}`;
}

/** The state of one search without its time. */
export function searchInWords({
  workload,
  trials,
  flops,
  defaultSeconds,
  bestSeconds,
}: Omit<TuningProgress, 'secondsLeft'>): string {
  const sizes = [...workload.matchAll(/(?<! in)=(\d+)/g)].map((match) => match[1]).join('x');
  if (trials === 0) return `${sizes}: timing the default`;
  const seconds = Math.min(bestSeconds, defaultSeconds);
  const rate = flops / seconds / 1e9;
  return `${sizes}: ${rate.toFixed(rate < 100 ? 1 : 0)} GFLOP/s, best trial ${formatRatio(defaultSeconds / seconds)} the default`;
}

export const roundsLine = ({ rounds, workloads, ratio, secondsLeft }: RoundsProgress): string =>
  `${timeLeft(secondsLeft)}: tuning ${counted(workloads, 'operation')} together, ` +
  `${formatRatio(Math.max(1, ratio))} the default after ${counted(rounds, 'round')}`;

/** The result of one workload. */
interface Result {
  readonly configuration: Configuration;
  readonly evidence: { readonly complete: boolean };
}

/**
 * The last line of tuning. It has no gains, because a run of the program after it may replace the evidence.
 * @param left number of operations without a result
 * @param why reason for these
 */
export function ending(results: readonly Result[], left: number, why: string, seconds: number): string {
  const same = results.filter(({ configuration }) => isDefault(configuration));
  const best = same.filter(({ evidence }) => evidence.complete).length;
  const others = [
    ...(best > 0 ? [`the default is best for ${best}`] : []),
    ...(same.length > best ? [`nothing faster yet for ${same.length - best}`] : []),
    ...(left > 0 ? [`${left} left to the default: ${why}`] : []),
  ];
  const all = counted(results.length + left, 'operation');
  const tuned = `tuned ${results.length - same.length} of ${all} in ${formatDuration(seconds)}`;
  return `${[tuned, ...others].join('; ')}. iree-tuned explain shows each`;
}

/** The result of a run of the program, or of the program in other forms; null for no result. */
export function verdictSentence(
  subject: string,
  { functions, leftOut, injected, reason }: ProgramVerdict,
): string | null {
  const all = functions.map(({ name, timing, reason: why }) =>
    timing === null
      ? `@${name} was not timed: ${why ?? 'it has no results to compare'}`
      : `@${name} ${formatRatio(timing.ratio)} as fast`,
  );
  const more = all.length > MOST_NAMED ? [`${all.length - MOST_NAMED} more functions`] : [];
  const left =
    leftOut.length > 0 ? [`${counted(leftOut.length, 'operation')} left to the default in it`] : [];
  const whole = reason === null ? [] : [`${injected ? 'not verified' : 'compiled as it is'}: ${reason}`];
  const said = [...all.slice(0, MOST_NAMED), ...more, ...left, ...whole];
  return said.length === 0 ? null : `${subject}: ${said.join(', ')}`;
}
