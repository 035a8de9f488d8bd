// What the dimensions of a workload are to a GPU's pipelines.
import type { Dimension } from '../../workload/contraction/contraction.ts';
import { isDynamic, type OperationWork } from '../../workload/workload.ts';

/** Indices into a workload's dimensions; -1 where there is none. */
export interface Roles {
  /** The pipeline computes a product of patches. */
  readonly igemm: boolean;
  /** Innermost dimension of the side that gets the rows of matrix instructions. */
  readonly row: number;
  /** The same of the columns. */
  readonly column: number;
  /** The next dimension outside of one of the two: with an innermost one that is short, it makes tiles larger. */
  readonly outer: number;
  /** The innermost reduction dimension; of patches the last one, which stands for all. */
  readonly depth: number;
  /** Elements along `depth`: of patches along all reduction dimensions. */
  readonly depthSize: number;
}

/** Null for what the pipelines cannot be configured for: dynamic sizes, and depthwise convolutions. */
export function rolesOf(workload: OperationWork): Roles | null {
  const { dimensions, windows, accumulator } = workload;
  const of = (kind: Dimension['kind']) => dimensions.flatMap((one, d) => (one.kind === kind ? [d] : []));
  const size = (d: number) => dimensions[d]!.size;
  const igemm = windows !== undefined;
  if (isDynamic(workload) || (igemm && of('batch').length > 0)) return null;
  const reduced = of('k');
  const depth = reduced.at(-1)!;
  // The columns of a product of patches are contiguous in the result: pixels, where the channels come first.
  const isSwapped = igemm && dimensions[accumulator.dimensions.at(-1)!]!.kind === 'm';
  const [rows, columns] = isSwapped ? [of('n'), of('m')] : [of('m'), of('n')];
  return {
    igemm,
    row: rows.at(-1) ?? -1,
    column: columns.at(-1) ?? -1,
    outer: rows.at(-2) ?? columns.at(-2) ?? -1,
    depth,
    depthSize: igemm ? reduced.reduce((all, d) => all * size(d), 1) : size(depth),
  };
}

/** The dimensions that tiles of more than one are for. */
export type Along = 'row' | 'column' | 'outer';

/** Tiles of one level: 0 along reduction dimensions. */
export const levelOf = (
  { workload, roles }: { readonly workload: OperationWork; readonly roles: Roles },
  of: (dimension: number, along: Along | null) => number,
): number[] =>
  workload.dimensions.map(({ kind }, d) =>
    kind === 'k'
      ? 0
      : of(d, (['row', 'column', 'outer'] as const).find((along) => roles[along] === d) ?? null),
  );
