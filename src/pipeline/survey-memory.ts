// What a survey found out, remembered per input, flags and compiler: a build that was surveyed once never is again.
import { isWorkload } from '../store/validate.ts';
import type { OperationWorkload } from '../workload/from-operation.ts';
import type { Workload } from '../workload/workload.ts';
import { memoryOf } from './memory.ts';

/** What code is generated for: a workload, and the order of the loops over its dimensions. */
export interface GeneratedForm {
  readonly workload: Workload;
  readonly loops: readonly number[];
}

/** One operation of the input, or one that the compiler makes. */
export interface SurveyedOperation {
  readonly name: string;
  /** Index among the operations of the input's text; null when it has none there. */
  readonly index: number | null;
  /** `file:line:column` as the compiler says it; null when it says nothing. */
  readonly location: string | null;
  /** Why there is nothing to tune; null when there is. */
  readonly skipped: string | null;
  /** Never null for what is tuned; for what is skipped, what matchers take it for. */
  readonly generated: GeneratedForm | null;
  /** The operation before it is optimised; null when it cannot be told, or has other dimensions by then. */
  readonly written: OperationWorkload | null;
}

export interface Survey {
  readonly identity: string;
  readonly operations: readonly SurveyedOperation[];
}

export const surveyMemory = memoryOf('survey', isSurvey);

function isSurvey(value: unknown): value is Survey {
  const { identity, operations } = (value ?? {}) as Partial<Record<keyof Survey, unknown>>;
  return typeof identity === 'string' && Array.isArray(operations) && operations.every(isSurveyedOperation);
}

function isSurveyedOperation(value: unknown): value is SurveyedOperation {
  const { name, index, location, skipped, generated, written } = (value ?? {}) as Partial<
    Record<keyof SurveyedOperation, unknown>
  >;
  return (
    typeof name === 'string' &&
    (index === null || Number.isSafeInteger(index)) &&
    [location, skipped].every((text) => text === null || typeof text === 'string') &&
    (generated !== null || skipped !== null) &&
    [generated, written].every((form) => form === null || isForm(form))
  );
}

/** Loops must run over each dimension once: they become indices when a configuration is rendered. */
function isForm(value: unknown): boolean {
  const { workload, loops, writtenLoops } = (value ?? {}) as Partial<
    Record<keyof OperationWorkload, unknown>
  >;
  return (
    isWorkload(workload) &&
    [loops, writtenLoops ?? loops].every(
      (order) =>
        Array.isArray(order) &&
        order.length === workload.dimensions.length &&
        workload.dimensions.every((_, d) => order.includes(d)),
    )
  );
}
