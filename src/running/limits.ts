// Whether a build may run its program, and the time limits of compiling and running it.
import type { InputText } from '../input/text.ts';
import { because, type Reason } from '../system/reason.ts';

export interface Limits {
  /** For all compiles together. One compile may take half of it. */
  readonly compileSeconds: number;
  /** For all runs together. */
  readonly runSeconds: number;
  /** Largest inputs of a function, in bytes. */
  readonly inputBytes: number;
  /** Inputs of all functions at all sizes together, in bytes: their files exist at once. */
  readonly allInputBytes: number;
}

/** Share of the budget for runs of the program. */
const SHARE = 0.1;

/** Shortest useful time for runs, in seconds. */
const LEAST_SECONDS = 1.5;

/** Largest inputs that a build generates for a function, in bytes. */
const LARGEST_INPUTS = 2 ** 30;

/** Limit for compiles of a rewritten program, in budgets. Without these compiles the program ships as written, which loses most. */
const REWRITTEN_COMPILES = 4;

/** Limits of compiles and runs, besides the tuning budget. */
export const limitsWithin = (budgetSeconds: number, isRewritten: boolean): Limits => ({
  compileSeconds: (isRewritten ? REWRITTEN_COMPILES : 1) * budgetSeconds,
  runSeconds: SHARE * budgetSeconds,
  inputBytes: LARGEST_INPUTS,
  allInputBytes: 4 * LARGEST_INPUTS,
});

/** Why a build does not run its program; null if it may. Several compiles run at once, for which the memory may have no room. */
export const whyNotRun = ({ isHuge }: Pick<InputText, 'isHuge'>, budgetSeconds: number): Reason | null => {
  if (isHuge) return because('input-too-large', 'its input is too large to be compiled once more');
  return mayRun(budgetSeconds) ? null : because('no-run-time');
};

/** Whether the budget is enough to run a program. */
export const mayRun = (budgetSeconds: number): boolean => SHARE * budgetSeconds >= LEAST_SECONDS;
