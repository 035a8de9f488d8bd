// What whoever waits at a terminal sees of tuning: sentences that stay, and a last line that rewrites itself. Nobody else sees
// anything.
import { writeFileSync } from 'node:fs';
import { parse } from 'node:path';
import { isatty } from 'node:tty';
import type { RoundsProgress } from '../program/tune-in-program.ts';
import type { ProgramVerdict } from '../program/verdict.ts';
import { makeFolder } from '../system/folder.ts';
import { INTRODUCED, pathIn } from '../system/cache.ts';
import type { TuneOutcome } from '../tuning/tune-workloads.ts';
import type { TuningProgress } from '../tuning/search-job.ts';
import { columns, lineDisplay, write } from './progress.ts';
import {
  beginning,
  ending,
  INTRODUCTION,
  PREPARING,
  formsEnding,
  programEnding,
  progressLine,
  roundsLine,
  runningProgram,
  TRYING_FORMS,
} from './sentences.ts';
import { wrapped } from './text.ts';

export interface Story {
  /** So many workloads are to be tuned in so many seconds. */
  begin(count: number, seconds: number): void;
  progress(progress: TuningProgress): void;
  /** All of them are tuned together, in the program. */
  rounds(progress: RoundsProgress): void;
  /** What came of so many. */
  end(count: number, outcome: TuneOutcome): void;
  /** The program is compiled and run in other forms. */
  tryForms(): void;
  endForms(verdict: ProgramVerdict): void;
  runProgram(seconds: number): void;
  endProgram(verdict: ProgramVerdict): void;
  /** Takes the last line away. */
  clear(): void;
}

const SILENCE: Story = {
  begin() {},
  progress() {},
  rounds() {},
  end() {},
  tryForms() {},
  endForms() {},
  runProgram() {},
  endProgram() {},
  clear() {},
};

/**
 * Told on stderr where that is a terminal.
 * @param cacheDirectory where it is kept that somebody was told what tuning is; null where nobody needs to be
 */
export function storyOf(cacheDirectory: string | null): Story {
  if (!isatty(2)) return SILENCE;
  const { show, say, clear } = terminal();
  const clock = () => performance.now() / 1000;
  let begun = clock();
  return {
    begin(count, seconds) {
      begun = clock();
      say(beginning(count, seconds));
      if (cacheDirectory !== null && isFirst(cacheDirectory)) say(INTRODUCTION);
      show(PREPARING);
    },
    progress(progress) {
      show(progressLine(progress));
    },
    rounds(progress) {
      show(roundsLine(progress));
    },
    end(count, { results, whyNot }) {
      say(ending([...results.values()], count - results.size, whyNot.reason, clock() - begun));
    },
    tryForms() {
      show(TRYING_FORMS);
    },
    endForms(verdict) {
      const sentence = formsEnding(verdict);
      if (sentence !== null) say(sentence);
    },
    runProgram(seconds) {
      show(runningProgram(seconds));
    },
    endProgram(verdict) {
      const sentence = programEnding(verdict);
      if (sentence !== null) say(sentence);
    },
    clear,
  };
}

/** Whether nobody was told before, with this cache folder; from now on somebody was. */
function isFirst(cacheDirectory: string): boolean {
  try {
    makeFolder(cacheDirectory, 0o700);
    writeFileSync(pathIn(cacheDirectory, INTRODUCED), '', { flag: 'wx' });
    return true;
  } catch {
    // It is there. Where nothing can be written it would be told again and again.
    return false;
  }
}

interface Terminal {
  /** The last line: it goes on from the sentence above it. */
  readonly show: (line: string) => void;
  /** What stays, above it. */
  readonly say: (sentence: string) => void;
  readonly clear: () => void;
}

/** Each line begins with the name of the program that was started. */
function terminal(): Terminal {
  const { name } = parse(process.argv[1] ?? '');
  const { show, clear } = lineDisplay();
  return {
    clear,
    show(line: string) {
      show(`  ${line}`);
    },
    say(sentence: string) {
      clear();
      write(`${wrapped(`${name}: ${sentence}`, columns(), '  ')}\n`);
    },
  };
}
