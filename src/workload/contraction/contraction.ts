// One contraction in canonical form, free of names, order of loops and spelling.
import type { Context } from './dispatch.ts';

/** Role of one iteration dimension: in all three operands, in lhs and result, in rhs and result, or reduced. */
export type DimensionKind = 'batch' | 'm' | 'n' | 'k';

/** One iteration dimension. */
export interface Dimension {
  readonly kind: DimensionKind;
  /** In elements. Of a dynamic dimension the largest of its `sizes`, 0 while it has none. */
  readonly size: number;
  /** Of a dynamic dimension the sizes that it is tuned at, smallest first; absent where the size is static. */
  readonly sizes?: readonly number[];
}

/** One operand of a contraction. */
export interface OperandForm {
  /** Element type in MLIR's spelling, such as `f32` or `i8`. */
  readonly elementType: string;
  /**
   * For each dimension of the tensor, the index into `Contraction.dimensions` that it runs along; for one that a filter is
   * moved along, both.
   */
  readonly dimensions: readonly number[];
}

/** Indices into `Contraction.dimensions`: along the image, and inside the filter. */
export type Window = readonly [along: number, inside: number];

/** A contraction: `accumulator += lhs * rhs` over the `k` dimensions. */
export interface Contraction {
  readonly kind: 'contraction';
  /** All iteration dimensions, batch before m before n before k. */
  readonly dimensions: readonly Dimension[];
  readonly lhs: OperandForm;
  readonly rhs: OperandForm;
  readonly accumulator: OperandForm;
  /** The right-hand side is a constant of the program, so packing it costs nothing at run time. */
  readonly constantRhs: boolean;
  /** How a filter, the rhs, is moved over an image, the lhs; absent where nothing is moved. Steps are the dispatch's. */
  readonly windows?: readonly Window[];
  /** The dispatch that it is the root of; absent where it is alone there, and may stay in the caches. */
  readonly context?: Context;
}

/** Letter of each dimension in a key: its kind, numbered when a kind occurs more than once (`m0`, `m1`). */
function letters(workload: Contraction): string[] {
  const seen = new Map<DimensionKind, number>();
  return workload.dimensions.map(({ kind }) => {
    const letter = kind === 'batch' ? 'b' : kind;
    const several = workload.dimensions.filter((other) => other.kind === kind).length > 1;
    const number = seen.get(kind) ?? 0;
    seen.set(kind, number + 1);
    return several ? `${letter}${number}` : letter;
  });
}

/**
 * Readable canonical key, e.g. `contraction m=512 n=512 k=512 f32,f32->f32 mk,kn->mn`; a dynamic dimension is
 * `m=?(1,16,128)`. In a dispatch of a program the key ends in `in=` and the dispatch's digest.
 */
export function contractionKey(workload: Contraction): string {
  const names = letters(workload);
  const sizes = workload.dimensions
    .map(({ size, sizes }, i) => `${names[i]!}=${sizes === undefined ? size : `?(${sizes.join(',')})`}`)
    .join(' ');
  const types = `${workload.lhs.elementType},${workload.rhs.elementType}->${workload.accumulator.elementType}`;
  const moved = new Map(workload.windows);
  const inside = new Set(moved.values());
  const form = ({ dimensions }: OperandForm) =>
    dimensions.some((d) => moved.has(d)) && dimensions.some((d) => inside.has(d))
      ? dimensions
          .filter((d) => !inside.has(d))
          .map((d) => (moved.has(d) ? `(${names[d]!}+${names[moved.get(d)!]!})` : names[d]!))
          .join('')
      : dimensions.map((d) => names[d]!).join('');
  const maps = `${form(workload.lhs)},${form(workload.rhs)}->${form(workload.accumulator)}`;
  const place = workload.context === undefined ? '' : ` in=${workload.context.digest}`;
  return `contraction ${sizes} ${types} ${maps}${workload.constantRhs ? ' rhs=constant' : ''}${place}`;
}

/** Whether a size is only known at run time. */
export const isDynamic = ({ dimensions }: Contraction): boolean =>
  dimensions.some(({ sizes }) => sizes !== undefined);

/** The contraction at every combination of its dynamic dimensions' sizes; itself alone when all are static. */
export function staticForms(workload: Contraction): Contraction[] {
  const combinations = workload.dimensions.reduce<Dimension[][]>(
    (begun, { kind, size, sizes }) =>
      begun.flatMap((dimensions) => (sizes ?? [size]).map((one) => [...dimensions, { kind, size: one }])),
    [[]],
  );
  return combinations.map((dimensions) => ({ ...workload, dimensions }));
}

/** Elements along each dimension of an operand's tensor; of an image that a filter is moved over in steps of one. */
export function extentsOf({ dimensions, windows }: Contraction, operand: OperandForm): number[] {
  const moved = new Map(windows);
  const inside = new Set(operand.dimensions.flatMap((d) => moved.get(d) ?? []));
  return operand.dimensions
    .filter((d) => !inside.has(d))
    .map((d) => {
      const within = moved.get(d);
      const over =
        within === undefined || !operand.dimensions.includes(within) ? 1 : dimensions[within]!.size;
      return dimensions[d]!.size + over - 1;
    });
}

/** Multiplications and additions of one execution, two per innermost iteration; at the largest sizes of dynamic dimensions. */
export function contractionFlops(workload: Contraction): number {
  return 2 * workload.dimensions.reduce((product, { size }) => product * size, 1);
}
