// A whole dispatch in canonical form, such as a softmax, an attention, a pooling or a transpose. A digest identifies its
// computation. The other fields decide its tiles.
import { allSizes, isDynamic, sizesWanted, type TunedSizes } from '../sizes.ts';
import type { Dimension } from '../contraction/contraction.ts';
import { because, type Reason } from '../../system/reason.ts';

export interface DispatchDimension extends Dimension {
  /** `m` for a parallel dimension of the operation that defines the workgroups, `k` for a reduction of it. */
  readonly kind: 'm' | 'k';
}

/** An operation with tiles. */
export interface DispatchPart {
  /** Such as `linalg.generic`. */
  readonly name: string;
  /** For each loop, outermost first, its index in `DispatchWork.dimensions`. */
  readonly loops: readonly number[];
  /** Indices into `loops` of the reductions. For an attention: the loop over keys, then the loop along a key. */
  readonly reduced: readonly number[];
}

/** Whether it weighs values by products of queries and keys. The loop along a key cannot be tiled. */
export const isAttention = ({ name, reduced }: Pick<DispatchPart, 'name' | 'reduced'>): boolean =>
  name.endsWith('attention') && reduced.length > 1;

/** The index of the dimension along the keys of an attention; null for other work. */
export function multipliedAlong(parts: readonly DispatchPart[]): number | null {
  const attention = parts.find(isAttention);
  return attention?.loops[attention.reduced.at(-1)!] ?? null;
}

/** The matrix instructions of an attention on a GPU. */
export interface MatrixInstructions {
  /** Elements of an instruction along each dimension; 1 along dimensions without instructions. */
  readonly unit: readonly number[];
  /** Element type of queries, keys and values. */
  readonly elementType: string;
  /** Whether the weights stay in registers between the two products. Otherwise they go through shared memory. */
  readonly chained: boolean;
}

export interface DispatchWork {
  readonly kind: 'dispatch';
  /** Digest of the computation, hexadecimal. Independent of names. */
  readonly digest: string;
  /** The compiler's name for it, such as `softmax_6x1500x1500xf32`. */
  readonly name: string;
  /** The compiler's pipeline for it. */
  readonly pipeline: string;
  readonly dimensions: readonly DispatchDimension[];
  /** In the order of execution. */
  readonly parts: readonly DispatchPart[];
  /** Element type of the last result. */
  readonly elementType: string;
  /** Index of the contiguous dimension of the last result; null for none. */
  readonly lane: number | null;
  /** The matrix instructions of an attention; absent without. */
  readonly matrix?: MatrixInstructions;
  /** Bytes that it reads and writes; 0 for dynamic sizes. */
  readonly bytes: number;
}

/** Readable key, such as `dispatch softmax_6x1500x1500xf32 in=0123456789abcdef`. Dynamic sizes add ` at=1,128`. */
export function dispatchKey({ name, digest, dimensions }: DispatchWork): string {
  const sizes = dimensions.find((one) => one.sizes !== undefined)?.sizes;
  return `dispatch ${name} in=${digest}${sizes === undefined ? '' : ` at=${sizes.join(',')}`}`;
}

/** The dispatch in a program that is run at these sizes, or the reason why it cannot be tuned. */
export function dispatchAtSizes(workload: DispatchWork, wanted: TunedSizes): DispatchWork | Reason {
  if (!isDynamic(workload)) return workload;
  const sizes = allSizes(wanted);
  if (sizes.length === 0) return sizesWanted(['m']);
  const at = (one: DispatchDimension): DispatchDimension =>
    one.sizes === undefined ? one : { ...one, size: sizes.at(-1)!, sizes };
  const found = { ...workload, dimensions: workload.dimensions.map(at) };
  return dispatchIterations(found) < LEAST_ITERATIONS ? because('too-little-work') : found;
}

/** Fewer iterations take too little time to tune. */
export const LEAST_ITERATIONS = 2 ** 15;

/** Innermost iterations of all operations. */
export const dispatchIterations = ({
  dimensions,
  parts,
}: Pick<DispatchWork, 'dimensions' | 'parts'>): number =>
  parts.reduce((sum, { loops }) => sum + loops.reduce((product, d) => product * dimensions[d]!.size, 1), 0);
