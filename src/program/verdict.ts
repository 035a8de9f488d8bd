// Verdict on a program, stock against tuned.
import type { Verdict } from './verify.ts';
import type { Reason, ReasonCode } from '../system/reason.ts';

export interface FunctionVerdict extends Verdict {
  readonly name: string;
}

/** A function that was not run, with the reason. */
export interface SkippedFunction extends Reason {
  readonly name: string;
}

export interface ProgramVerdict {
  /** Verdicts on the functions of the program with the kept configurations. */
  readonly functions: readonly FunctionVerdict[];
  readonly skipped: readonly SkippedFunction[];
  /** Keys of the workloads that keep the default in this program, with the reasons. */
  readonly leftOut: readonly (Reason & { readonly workload: string })[];
  /** Whether the program keeps any configuration. */
  readonly injected: boolean;
  /** Why nothing is injected, or why the injected configurations are not proven correct and no slower; null otherwise. */
  readonly reason: string | null;
  /** Code of the reason; null without a reason. */
  readonly code: ReasonCode | null;
}

/** Verdict on a program that keeps all configurations without a run. */
export const notVerified = (why: Reason): ProgramVerdict => ({
  ...{ functions: [], skipped: [], leftOut: [], injected: true, ...why },
});
