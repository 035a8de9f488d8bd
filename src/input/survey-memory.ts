// What a survey found out, remembered per input, flags and compiler: a build that was surveyed once never is again.
import { hasFields, isIntegerWithin, isNumber, isText, listOf, optional, orNull } from '../system/data.ts';
import { isRewritable, type Rewritable } from '../form/rewritable.ts';
import { isDispatch } from '../workload/contraction/dispatch.ts';
import {
  isWorkload,
  workloadRank,
  type OperationWork,
  type OperationWorkload,
  type Workload,
  type WorkloadForm,
} from '../workload/workload.ts';
import { SURVEYS } from '../system/cache.ts';
import { memoryOf } from '../system/memory.ts';
import { isReason, type Reason } from '../system/reason.ts';

/** One operation of the input, or one that the compiler makes. */
export interface SurveyedOperation {
  readonly name: string;
  /** Index among the operations of the input's text; null when it has none there. */
  readonly index: number | null;
  /** `file:line:column` as the compiler says it; null when it says nothing. */
  readonly location: string | null;
  /** Why there is nothing to tune; null when there is. */
  readonly skipped: Reason | null;
  /** Never null for what is tuned; for what is skipped, what matchers take it for. */
  readonly generated: WorkloadForm | null;
  /** The operation before it is optimised; null when it cannot be told, or has other dimensions by then. */
  readonly written: OperationWorkload | null;
  /** Names of the executables that have such an operation; absent in what earlier versions remember. */
  readonly executables?: readonly string[];
}

export interface Survey {
  readonly identity: string;
  readonly operations: readonly SurveyedOperation[];
  readonly rewritables: readonly Rewritable[];
  /** How long it took. */
  readonly seconds: number;
}

/** A workload, with its dispatch where it is in one. */
function isMeasurable(value: unknown): value is Workload {
  const { context, ...workload } = (value ?? {}) as Partial<OperationWork>;
  if (context === undefined) return isWorkload(value);
  return isWorkload({ ...workload, context: { digest: context.digest } }) && isDispatch(context.dispatch);
}

/** Loops must run over each dimension once: they become indices when a configuration is rendered. */
function isForm(value: unknown): boolean {
  const { workload, loops, writtenLoops } = (value ?? {}) as Partial<
    Record<keyof OperationWorkload, unknown>
  >;
  return (
    isMeasurable(workload) &&
    [loops, writtenLoops ?? loops].every(
      (order) =>
        Array.isArray(order) &&
        order.length === workloadRank(workload) &&
        new Set(order).size === order.length &&
        order.every((d) => isIntegerWithin(d, 0, order.length - 1)),
    )
  );
}

const isSurveyed = hasFields<SurveyedOperation>({
  ...{
    name: isText,
    index: orNull(Number.isSafeInteger),
    location: orNull(isText),
    skipped: orNull(isReason),
  },
  ...{ generated: orNull(isForm), written: orNull(isForm), executables: optional(listOf(isText)) },
});

const isSurveyedOperation = (value: unknown): boolean =>
  isSurveyed(value) && (value.generated !== null || value.skipped !== null);

export const surveyMemory = memoryOf(
  SURVEYS,
  hasFields<Survey>({
    ...{ identity: isText, seconds: isNumber },
    ...{ operations: listOf(isSurveyedOperation), rewritables: listOf(isRewritable) },
  }),
);
