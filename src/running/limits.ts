// How much may be spent on compiling and running one program.

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

/** Whether a budget leaves enough for a program to be run. */
export const mayRun = (budgetSeconds: number): boolean => SHARE * budgetSeconds >= LEAST_SECONDS;
