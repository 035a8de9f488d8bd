// The operations of an input: those that can be tuned, and why the others cannot.
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
import type { Reason } from '../system/reason.ts';

/** Where an operation stands. */
export interface Place {
  /** Such as `linalg.matmul`. */
  readonly name: string;
  /** The operation in the text of the input; null when the input is not such a text. */
  readonly operation: Operation | null;
  /** What the compiler calls the place, `file:line:column`; null when it is to be seen in the text. */
  readonly location: string | null;
}

/** An operation that has a workload. */
export interface TunableOperation {
  readonly place: Place;
  /** What code is generated for. */
  readonly workload: Workload;
  readonly key: string;
  /** For each loop of that, outermost first, the index into `workload.dimensions`. */
  readonly loops: readonly number[];
  /**
   * The operation as it is written, before the compiler optimises anything; null when it is the compiler that makes
   * it. Its dimensions are those of `workload`, dynamic ones without sizes.
   */
  readonly written: OperationWorkload | null;
  /** Names of the program's executables that are it; absent where nobody has looked. */
  readonly executables?: readonly string[];
}

/** What an operation is found by. */
export type Alike = Pick<TunableOperation, 'workload' | 'loops' | 'written'>;

/** An operation that is not tuned. */
export interface Skipped {
  readonly place: Place;
  readonly skipped: Reason;
  /** The form of those that no matcher can tell from it; null when it is told from all. */
  readonly alike: Alike | null;
}

export type InputOperation = TunableOperation | Skipped;

export const isTunable = (operation: InputOperation): operation is TunableOperation => 'key' in operation;

/**
 * Sorts operations into those that can be tuned and those that are skipped, with the reason.
 * @param sizes for dynamic dimensions
 * @param convert what the compile makes of an element type before code is generated
 */
export function classify(
  operations: readonly Operation[],
  sizes: TunedSizes,
  convert?: (elementType: string) => string,
): InputOperation[] {
  return operations.map((operation) => {
    const place = { name: operation.name, operation, location: null };
    const result = workloadOf(operation, convert);
    if ('skipped' in result) {
      const { skipped, alike } = result;
      return { place, skipped, alike: alike && { ...alike, written: alike } };
    }
    return tunable(place, result, result, sizes);
  });
}

/**
 * An operation with what code is generated for, as far as that can be tuned.
 * @param sizes for dynamic dimensions
 * @param executables names of those that are it
 */
export function tunable(
  place: Place,
  generated: WorkloadForm,
  written: OperationWorkload | null,
  sizes: TunedSizes,
  executables?: readonly string[],
): InputOperation {
  const workload = atSizes(generated.workload, sizes);
  if ('skipped' in workload) return { place, skipped: workload.skipped, alike: null };
  const { loops } = generated;
  return { place, key: workloadKey(workload), workload, loops, written, ...(executables && { executables }) };
}

/** Whether a dispatch is one of a workload's: it is called after its executable, and by what it does: `main_dispatch_7_matmul_like_49x192x1152_f32`. */
export const isDispatchOf = (
  { executables = [] }: Pick<TunableOperation, 'executables'>,
  name: string,
): boolean => executables.some((executable) => name === executable || name.startsWith(`${executable}_`));
