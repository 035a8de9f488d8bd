// What is said of a program that was run, stock against tuned.
import type { Verdict } from './verify.ts';
import type { Reason, ReasonCode } from '../system/reason.ts';

export interface FunctionVerdict extends Verdict {
  readonly name: string;
}

/** A function that was not run, with why. */
export interface SkippedFunction extends Reason {
  readonly name: string;
}

/** The key of a workload that keeps the default in one program, with why. */
export interface LeftOutReason extends Reason {
  readonly workload: string;
}

export interface ProgramVerdict {
  /** Of the program as it is to be compiled. */
  readonly functions: readonly FunctionVerdict[];
  /** Functions that were not run, with why. */
  readonly skipped: readonly SkippedFunction[];
  /** Keys of the workloads that are better left to the default in this program, with why. */
  readonly leftOut: readonly LeftOutReason[];
  /** Whether the program as it is to be compiled has any configuration in it. */
  readonly injected: boolean;
  /** Why nothing is injected, or why nobody knows whether what is injected is right and no slower; null otherwise. */
  readonly reason: string | null;
  /** Code of the reason; null without a reason. */
  readonly code: ReasonCode | null;
}

/** Of a program that has its configurations, and was not run. */
export const notVerified = (why: Reason): ProgramVerdict => ({
  ...{ functions: [], skipped: [], leftOut: [], injected: true, ...why },
});
