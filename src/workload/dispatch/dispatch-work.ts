// A dispatch of a program that is no contraction, in canonical form: a softmax, an attention, a pooling, a transpose, whatever the
// compiler generates code for in one piece. What it computes is told by a digest; the rest is what decides about tiles.
import { allSizes, sizesWanted, type TunedSizes } from '../sizes.ts';
import { because, type Reason } from '../../system/reason.ts';

export interface DispatchDimension {
  /** `m` where the operation that decides about workgroups computes elements along it, `k` where it sums them up. */
  readonly kind: 'm' | 'k';
  /** In elements. Of a dynamic dimension the largest of `sizes`, 0 while it has none. */
  readonly size: number;
  /** Of a dynamic dimension the sizes that its program is run at, smallest first; absent where the size is static. */
  readonly sizes?: readonly number[];
}

/** An operation that has tiles. */
export interface DispatchPart {
  /** Such as `linalg.generic`. */
  readonly name: string;
  /** For each loop, outermost first, the index into `DispatchWork.dimensions`. */
  readonly loops: readonly number[];
  /** Indices into `loops` of those that are summed up; of an attention keys first, then what they are multiplied along. */
  readonly reduced: readonly number[];
}

/** Whether it weighs values by products of queries and keys, which must be whole before they are weights. */
export const isAttention = ({ name, reduced }: Pick<DispatchPart, 'name' | 'reduced'>): boolean =>
  name.endsWith('attention') && reduced.length > 1;

/** Of an attention, the index of the dimension along which queries and keys are multiplied; null for other work. */
export function multipliedAlong(parts: readonly DispatchPart[]): number | null {
  const attention = parts.find(isAttention);
  return attention?.loops[attention.reduced.at(-1)!] ?? null;
}

export interface DispatchWork {
  readonly kind: 'dispatch';
  /** Equal for dispatches that compute the same, whatever things are called in them; hexadecimal. */
  readonly digest: string;
  /** What the compiler calls it, such as `softmax_6x1500x1500xf32`. */
  readonly name: string;
  /** The compiler's pipeline for it. */
  readonly pipeline: string;
  readonly dimensions: readonly DispatchDimension[];
  /** In the order in which they compute. */
  readonly parts: readonly DispatchPart[];
  /** Element type of what it computes last. */
  readonly elementType: string;
  /** Index of the dimension along which that is contiguous; null for none. */
  readonly lane: number | null;
  /** Bytes that it reads and writes; 0 where sizes are dynamic. */
  readonly bytes: number;
}

/** Readable key, such as `dispatch softmax_6x1500x1500xf32 in=0123456789abcdef`, with ` at=1,128` for dynamic sizes. */
export function dispatchKey({ name, digest, dimensions }: DispatchWork): string {
  const sizes = dimensions.find((one) => one.sizes !== undefined)?.sizes;
  return `dispatch ${name} in=${digest}${sizes === undefined ? '' : ` at=${sizes.join(',')}`}`;
}

export const isDynamicDispatch = ({ dimensions }: DispatchWork): boolean =>
  dimensions.some(({ sizes }) => sizes !== undefined);

/** The dispatch in a program that is run at these sizes, or why it cannot be tuned. */
export function dispatchAtSizes(
  workload: DispatchWork,
  wanted: TunedSizes,
): DispatchWork | { readonly skipped: Reason } {
  if (!isDynamicDispatch(workload)) return workload;
  const sizes = allSizes(wanted);
  if (sizes.length === 0) return { skipped: sizesWanted(['m']) };
  const at = (one: DispatchDimension): DispatchDimension =>
    one.sizes === undefined ? one : { ...one, size: sizes.at(-1)!, sizes };
  const found = { ...workload, dimensions: workload.dimensions.map(at) };
  return dispatchIterations(found) < LEAST_ITERATIONS ? { skipped: because('too-little-work') } : found;
}

/** A dispatch of fewer iterations takes no time that anybody would miss. */
export const LEAST_ITERATIONS = 2 ** 15;

/** Innermost iterations of all its operations. */
export const dispatchIterations = ({
  dimensions,
  parts,
}: Pick<DispatchWork, 'dimensions' | 'parts'>): number =>
  parts.reduce((sum, { loops }) => sum + loops.reduce((product, d) => product * dimensions[d]!.size, 1), 0);
