// Remembers surveys by input, flags and compiler, so that each is done once.
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
import { KIND_ORDER, type DimensionKind } from '../workload/sizes.ts';
import { SURVEYS } from '../system/cache.ts';
import { memoryOf } from '../system/memory.ts';
import { isReasonData, type Reason } from '../system/reason.ts';
import type { DispatchExtents } from './dispatch-extents.ts';
import { isExtent } from './extent.ts';

/** One operation of the input, or one that the compiler makes. */
export interface SurveyedOperation {
  readonly name: string;
  /** Index among the operations of the input's text; null without one. */
  readonly index: number | null;
  /** `file:line:column` from the compiler; null without one. */
  readonly location: string | null;
  /** The reason why the operation is skipped; null for a tunable operation. */
  readonly skipped: Reason | null;
  /** The generated form of a tunable operation. For a skipped operation, the form whose matchers find it, or null. */
  readonly generated: WorkloadForm | null;
  /** The form before any optimisation; null if it is unknown or has other dimensions. */
  readonly written: OperationWorkload | null;
  /** Names of the executables with this operation. Absent if none has it. */
  readonly executables?: readonly string[];
  /** Of its dynamic dimensions, for each function and kind. Absent if they are not known. */
  readonly extents?: readonly DispatchExtents[];
}

export interface Survey {
  readonly identity: string;
  readonly operations: readonly SurveyedOperation[];
  readonly rewritables: readonly Rewritable[];
  /** Duration of the survey. */
  readonly seconds: number;
}

/** Whether a value is a workload, with a dispatch if it has a context. */
function isMeasurable(value: unknown): value is Workload {
  const { context, ...workload } = (value ?? {}) as Partial<OperationWork>;
  if (context === undefined) return isWorkload(value);
  return isWorkload({ ...workload, context: { digest: context.digest } }) && isDispatch(context.dispatch);
}

/** Whether a value is a form. Each dimension must have one loop, because loops become indices in a rendered configuration. */
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

const areExtents = hasFields<DispatchExtents>({
  function: isText,
  kind: (value) => KIND_ORDER.includes(value as DimensionKind),
  extents: listOf((value) => isExtent(value)),
});

const isSurveyed = hasFields<SurveyedOperation>({
  ...{
    name: isText,
    index: orNull(Number.isSafeInteger),
    location: orNull(isText),
    skipped: orNull(isReasonData),
  },
  ...{ generated: orNull(isForm), written: orNull(isForm), executables: optional(listOf(isText)) },
  extents: optional(listOf(areExtents)),
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
