// Whether a program may be run, and how much may be spent on compiling and running one program.
import type { InputText } from '../input/text.ts';
import { because, type Reason } from '../system/reason.ts';

export interface Limits {
  /** For all compiles together, of which one may take half. */
  readonly compileSeconds: number;
  /** For everything that is run. */
  readonly runSeconds: number;
  /** Largest inputs of a function that are made up. */
  readonly inputBytes: number;
}

/** How much of the budget a program may run. */
const SHARE = 0.1;

/** In less time nothing is found out, in seconds. */
const LEAST_SECONDS = 1.5;

/** Largest inputs that a build makes up for a function, in bytes. */
const LARGEST_INPUTS = 2 ** 30;

/** Compiles of a rewritten program may take so many budgets: without them it ships as it is written, which loses most. */
const REWRITTEN_COMPILES = 4;

/** Limits for a program beside the tuning budget. */
export const limitsWithin = (budgetSeconds: number, isRewritten: boolean): Limits => ({
  compileSeconds: (isRewritten ? REWRITTEN_COMPILES : 1) * budgetSeconds,
  runSeconds: SHARE * budgetSeconds,
  inputBytes: LARGEST_INPUTS,
});

/** So many builds try to find something out about a program; after that only a build with more time. */
export const MOST_ATTEMPTS = 3;

/** Why a build does not run its program; null if it may. A large input fits into the memory once, but not beside a second compile. */
export const whyNotRun = ({ isWhole }: Pick<InputText, 'isWhole'>, budgetSeconds: number): Reason | null => {
  if (!isWhole) return because('input-too-large', 'its input is too large to be compiled once more');
  return mayRun(budgetSeconds) ? null : because('no-run-time');
};

/** Whether a budget leaves enough for a program to be run. */
export const mayRun = (budgetSeconds: number): boolean => SHARE * budgetSeconds >= LEAST_SECONDS;
