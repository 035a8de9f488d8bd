// Whether a build may run its program, and the time limits of compiling and running it.
import type { InputText } from '../input/text.ts';
import type { Settings } from '../settings/settings.ts';
import { memoryBytes } from '../system/processor.ts';
import { because, type Reason } from '../system/reason.ts';

export interface Limits {
  /** For all compiles together. One compile may take half of it. */
  readonly compileSeconds: number;
  /** For all runs together. */
  readonly runSeconds: number;
  /** Largest generated inputs and parameters of a function, in bytes. */
  readonly inputBytes: number;
  /** Files of generated inputs for all functions at all sizes, in bytes: they exist at once. */
  readonly allInputBytes: number;
}

/** Share of the budget for runs of the program. */
const SHARE = 0.1;

/** Shortest useful time for runs, in seconds. */
const LEAST_SECONDS = 1.5;

/** Share of the memory for the inputs and parameters of a function. Each process of a program may use half of it. */
const MEMORY_SHARE = 1 / 4;

/** Largest files of all functions, in times of the largest inputs of one. */
const FUNCTIONS = 4;

/** Limit for compiles of a rewritten program, in budgets. Without these compiles the program ships as written, which loses most. */
const REWRITTEN_COMPILES = 4;

/** Limits of compiles and runs, besides the tuning budget. */
export function limitsWithin(
  { budgetSeconds, mostInput }: Pick<Settings, 'budgetSeconds' | 'mostInput'>,
  isRewritten: boolean,
): Limits {
  const inputBytes = mostInput ?? MEMORY_SHARE * memoryBytes();
  return {
    compileSeconds: (isRewritten ? REWRITTEN_COMPILES : 1) * budgetSeconds,
    runSeconds: SHARE * budgetSeconds,
    inputBytes,
    allInputBytes: FUNCTIONS * inputBytes,
  };
}

/** Why a build does not run its program; null if it may. Several compiles run at once, for which the memory may have no room. */
export const whyNotRun = ({ isHuge }: Pick<InputText, 'isHuge'>, budgetSeconds: number): Reason | null => {
  if (isHuge) return because('input-too-large', 'its input is too large to be compiled once more');
  return mayRun(budgetSeconds) ? null : because('no-run-time');
};

/** Whether the budget is enough to run a program. */
export const mayRun = (budgetSeconds: number): boolean => SHARE * budgetSeconds >= LEAST_SECONDS;
