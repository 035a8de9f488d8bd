// A dispatch of a program that is no contraction, in canonical form: a softmax, an attention, a pooling, a transpose, whatever the
// compiler generates code for in one piece. What it computes is told by a digest; the rest is what decides about tiles.

export interface DispatchDimension {
  /** `m` where the operation that decides about workgroups computes elements along it, `k` where it sums them up. */
  readonly kind: 'm' | 'k';
  /** In elements. */
  readonly size: number;
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
  /** Bytes that it reads and writes. */
  readonly bytes: number;
}

/** Readable key, such as `dispatch softmax_6x1500x1500xf32 in=0123456789abcdef`. */
export const dispatchKey = ({ name, digest }: DispatchWork): string => `dispatch ${name} in=${digest}`;

/** Innermost iterations of all its operations. */
export const dispatchIterations = ({
  dimensions,
  parts,
}: Pick<DispatchWork, 'dimensions' | 'parts'>): number =>
  parts.reduce((sum, { loops }) => sum + loops.reduce((product, d) => product * dimensions[d]!.size, 1), 0);
