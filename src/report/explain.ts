// The explain JSON: every decision of one compile, with its reason.
import { sourceOf, type Decision, type Outcome } from '../decision/decision.ts';
import { placesIn, type Compacted } from '../input/compact.ts';
import type { Place } from '../input/operation.ts';
import type { Injection } from '../inject/plan.ts';
import type { FunctionVerdict, ProgramVerdict } from '../program/verdict.ts';
import type { Speedup, TuningRecord } from '../store/store.ts';
import type { ProgramLoss } from './loss.ts';
import type { TimeShares } from './time-shares.ts';
import type { Configuration } from '../backend/configuration.ts';
import { pick } from '../system/data.ts';
import { because, NO_REASON, type Reason, type ReasonCode } from '../system/reason.ts';

/** Version 1 had no codes. */
export const EXPLAIN_VERSION = 2;

/** `docs/explain.schema.json` describes its JSON. */
export interface Explanation {
  readonly version: typeof EXPLAIN_VERSION;
  readonly compiler: unknown;
  readonly target: unknown;
  readonly device: unknown;
  readonly route: Injection['route'];
  /** Whether every injected configuration was seen in the executables; null if no build has looked. */
  readonly applied: boolean | null;
  /** The real compiler's command line as it was run. */
  readonly command: readonly string[];
  /** Why the command was passed on as it was, or done again without tuning; null otherwise. */
  readonly reason: string | null;
  readonly code: ReasonCode | null;
  readonly operations: readonly ExplainedOperation[];
  /** The lock file; null without a lock file. */
  readonly lock: ExplainedLock | null;
  /** The forms that the program was compiled or tried in; null if it has no other forms. */
  readonly forms: ExplainedForms | null;
  /** Shares of the program's time, as it was timed last; null if it was not timed. */
  readonly time: TimeShares | null;
  /** Time that it loses against the limits of the machine, dispatch by dispatch; null if it was not timed. */
  readonly loss: ProgramLoss | null;
  /** Verdict of running the program, stock against tuned; null if this compile did not run it. */
  readonly program: ExplainedProgram | null;
  readonly seconds: { readonly total: number; readonly tuning: number; readonly overhead: number };
}

export interface ExplainedProgram extends ProgramVerdict {
  readonly functions: readonly (FunctionVerdict & { readonly code: ReasonCode | null })[];
}

/** How much faster or slower the program is in other forms, or why that is not known. */
export interface ExplainedForms extends Reason {
  /** Whether the program is compiled in them. */
  readonly used: boolean;
  readonly operations: readonly { readonly operation: string; readonly form: string }[];
}

export interface ExplainedLock {
  readonly path: string;
  /** Whether it decided about everything: nothing was looked up, tuned or run. */
  readonly used: boolean;
  /** Why it does not fit, and the way out; null if it fits. */
  readonly problem: string | null;
}

export interface ExplainedOperation extends Reason {
  /** `file:line:column` of the operation's name. */
  readonly location: string;
  readonly operation: string;
  readonly workload: string | null;
  /** Backend of the decision's target; left out in a build for one target. */
  readonly target?: string;
  readonly outcome: Outcome;
  readonly configuration: Configuration | null;
  readonly speedup: Speedup | null;
  /** Where the configuration comes from; null without a configuration. See `sourceOf`. */
  readonly source: string | null;
  /** Null if no record has the configuration; left out by `iree-tuned explain`. */
  readonly record?: ExplainedRecord | null;
  /** Whether its configuration was seen in the executables; null if none is injected, or no build has looked. */
  readonly landed: boolean | null;
  /** The executables of its workload, as far as they are known. */
  readonly executables: readonly string[];
}

/** The record of a configuration: where and when it was measured, and by whom. */
export type ExplainedRecord = Pick<TuningRecord, (typeof OF_RECORD)[number]>;

const OF_RECORD = ['digest', 'device', 'compiler', 'createdAt', 'createdBy', 'machine', 'tool'] as const;

/** Why nothing is injected; no reason if something is, or if the program is compiled in other forms. */
export const whyNothing = (injection: Injection, forms: ExplainedForms | null) =>
  injection.route === 'none' && forms?.used !== true ? because(injection.code, injection.reason) : NO_REASON;

/** A verdict with a code for each of its reasons. */
export const explainProgram = (verdict: ProgramVerdict): ExplainedProgram => ({
  ...verdict,
  functions: verdict.functions.map((one) => ({ ...one, code: codeOf(one) })),
});

function codeOf({ equal, reason }: FunctionVerdict): ReasonCode | null {
  if (reason === null) return null;
  if (equal === null) return 'results-unknown';
  return equal ? 'not-timed' : 'results-differ';
}

/** One entry per operation. `landed` and `records` run along `decisions`. */
export function explainOperations(
  input: Pick<Compacted, 'bytes' | 'cuts'>,
  inputName: string,
  decisions: readonly Decision[],
  landed: readonly (boolean | null)[] | null,
  records?: readonly (TuningRecord | null)[],
): ExplainedOperation[] {
  const locate = placesIn(input);
  /** The place in the text of the input, else the compiler's location, else the input. */
  const placeOf = ({ operation, location }: Place) => {
    if (operation === null) return location ?? inputName;
    const { line, column } = locate(operation.start);
    return `${inputName}:${line}:${column}`;
  };
  return decisions.map((decision, i) => {
    const { place, tunable, target, outcome, code, reason, configuration } = decision;
    const speedup = decision.evidence ?? decision.speedup ?? null;
    const record = records?.[i] ?? null;
    return {
      location: placeOf(place),
      operation: place.name,
      workload: tunable?.key ?? null,
      ...(target !== undefined && { target }),
      outcome,
      ...(landed?.[i] === false
        ? because('not-applied', `${reason}; ${notApplied(tunable?.executables ?? [])}`)
        : because(code, reason)),
      configuration,
      speedup: speedup && { ratio: speedup.ratio, low: speedup.low, high: speedup.high },
      source: configuration && sourceOf(decision),
      ...(records && { record: record && pick(record, OF_RECORD) }),
      landed: landed?.[i] ?? null,
      executables: tunable?.executables ?? [],
    };
  });
}

const notApplied = (executables: readonly string[]): string =>
  executables.length === 0
    ? 'not applied: no executable has the configuration'
    : `not applied: ${executables.join(', ')} lacks the configuration`;
