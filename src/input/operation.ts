// The operations of an input: tunable operations, and skipped operations with the reason.
import type { Operation } from 'mlir-parser-ts';
import type { TunedSizes } from '../workload/sizes.ts';
import {
  atSizes,
  workloadKey,
  workloadOf,
  type OperationWorkload,
  type Workload,
  type WorkloadForm,
} from '../workload/workload.ts';
import { isReason, type Reason } from '../system/reason.ts';

/** The place of an operation. */
export interface Place {
  /** Such as `linalg.matmul`. */
  readonly name: string;
  /** The operation in the text of the input; null for input that is not linalg text. */
  readonly operation: Operation | null;
  /** `file:line:column` from the compiler; null if the text of the input gives the place. */
  readonly location: string | null;
}

/** An operation that has a workload. */
export interface TunableOperation {
  readonly place: Place;
  /** The work that code is generated for. */
  readonly workload: Workload;
  readonly key: string;
  /** For each loop of the generated code, outermost first, its index in `workload.dimensions`. */
  readonly loops: readonly number[];
  /**
   * The operation before any optimisation, with the dimensions of `workload`, but without sizes for dynamic ones. Null if the
   * compiler makes the operation.
   */
  readonly written: OperationWorkload | null;
  /** Names of the executables with this operation. Absent without a survey. */
  readonly executables?: readonly string[];
}

/** The fields by which matchers find an operation. */
export type MatchedOperation = Pick<TunableOperation, 'workload' | 'loops' | 'written'>;

/** An operation that is not tuned, and the reason. */
export interface Skipped extends Reason {
  readonly place: Place;
  /** The form of tunable operations that the same matchers find; null without one. */
  readonly matched: MatchedOperation | null;
}

export type InputOperation = TunableOperation | Skipped;

export const isTunable = (operation: InputOperation): operation is TunableOperation => !isReason(operation);

/**
 * Classifies operations as tunable or as skipped with a reason.
 * @param sizes for dynamic dimensions
 * @param convert maps an element type of the input to the type that code is generated for
 */
export function classify(
  operations: readonly Operation[],
  sizes: TunedSizes,
  convert?: (elementType: string) => string,
): InputOperation[] {
  return operations.map((operation) => {
    const place = { name: operation.name, operation, location: null };
    const result = workloadOf(operation, convert);
    if (!isReason(result)) return tunable(place, result, result, sizes);
    const { matched } = result;
    return { ...result, place, matched: matched && { ...matched, written: matched } };
  });
}

/**
 * An operation with its generated form. Skipped if its dynamic dimensions have no sizes.
 * @param sizes for dynamic dimensions
 * @param executables names of the executables with this operation
 */
export function tunable(
  place: Place,
  generated: WorkloadForm,
  written: OperationWorkload | null,
  sizes: TunedSizes,
  executables?: readonly string[],
): InputOperation {
  const workload = atSizes(generated.workload, sizes);
  if (isReason(workload)) return { place, ...workload, matched: null };
  const { loops } = generated;
  return { place, key: workloadKey(workload), workload, loops, written, ...(executables && { executables }) };
}

/** Whether a dispatch belongs to an operation. Its name starts with the executable: `main_dispatch_7_matmul_like_49x192x1152_f32`. */
export const isDispatchOf = (
  { executables = [] }: Pick<TunableOperation, 'executables'>,
  name: string,
): boolean => executables.some((executable) => name === executable || name.startsWith(`${executable}_`));
