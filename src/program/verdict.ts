// What is said of a program that was run, stock against tuned.
import type { Verdict } from './verify.ts';

export interface FunctionVerdict extends Verdict {
  readonly name: string;
}

export interface ProgramVerdict {
  /** Of the program as it is to be compiled. */
  readonly functions: readonly FunctionVerdict[];
  /** Functions that were not run, with why. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  /** Keys of the workloads that are better left to the default in this program, with why. */
  readonly leftOut: readonly { readonly workload: string; readonly reason: string }[];
  /** Whether the program as it is to be compiled has any configuration in it. */
  readonly injected: boolean;
  /** Why nothing is injected, or why nobody knows whether what is injected is right and no slower; null otherwise. */
  readonly reason: string | null;
}

/** Of a program that has its configurations, and was not run. */
export const notVerified = (reason: string): ProgramVerdict => ({
  ...{ functions: [], skipped: [], leftOut: [], injected: true, reason },
});
