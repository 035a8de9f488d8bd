// Roles of a workload's dimensions in the GPU pipelines.
import type { Dimension } from '../../workload/contraction/contraction.ts';
import { isDynamic, type OperationWork } from '../../workload/workload.ts';

/** Indices into a workload's dimensions; -1 for none. */
export interface Roles {
  /** The pipeline computes a product of patches. */
  readonly igemm: boolean;
  /** Innermost dimension along the rows of matrix instructions. */
  readonly row: number;
  /** Innermost dimension along the columns of matrix instructions. */
  readonly column: number;
  /** The next outer dimension of rows or columns. It enlarges tiles if the innermost dimension is short. */
  readonly outer: number;
  /** The innermost reduction dimension. In a product of patches the last reduction dimension stands for all. */
  readonly depth: number;
  /** Elements along `depth`; in a product of patches, along all reduction dimensions. */
  readonly depthSize: number;
}

/** Null for dynamic sizes and depthwise convolutions, which the pipelines do not support. */
export function rolesOf(workload: OperationWork): Roles | null {
  const { dimensions, windows, accumulator } = workload;
  const of = (kind: Dimension['kind']) => dimensions.flatMap((one, d) => (one.kind === kind ? [d] : []));
  const size = (d: number) => dimensions[d]!.size;
  const igemm = windows !== undefined;
  if (isDynamic(workload) || (igemm && of('batch').length > 0)) return null;
  const reduced = of('k');
  const depth = reduced.at(-1)!;
  // The columns of a product of patches are contiguous in the result. With the channels first they are pixels.
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

/** Whether a workload is a matmul: one dimension of each kind, and batches. */
export const isMatmul = (workload: OperationWork): boolean =>
  workload.windows === undefined &&
  rolesOf(workload) !== null &&
  (['m', 'n', 'k'] as const).every(
    (wanted) => workload.dimensions.filter(({ kind }) => kind === wanted).length === 1,
  );

/** The dimensions with tiles of more than one element. */
const SIDES = ['row', 'column', 'outer'] as const;
export type Along = (typeof SIDES)[number];
export type OfEachSide<T> = Readonly<Record<Along, T>>;

/** Values for each dimension with tiles, such as `tile.row` and `tile.column`. */
export const byRole = <Level extends string, T>(level: Level, of: (role: Along) => T) =>
  Object.fromEntries(SIDES.map((role) => [`${level}.${role}`, of(role)])) as Record<`${Level}.${Along}`, T>;

export interface Shaped {
  readonly workload: OperationWork;
  readonly roles: Roles;
}

/** Steps along reduction dimensions: `step` along `depth`, and 0 along parallel dimensions. */
export const stepsOf = ({ workload, roles }: Shaped, step: number): number[] =>
  workload.dimensions.map(({ kind }, d) =>
    kind !== 'k' ? 0 : d === roles.depth ? step : Number(!roles.igemm),
  );

/** Tiles of one level: 0 along reduction dimensions. */
export const levelOf = (
  { workload, roles }: Shaped,
  of: (dimension: number, role: Along | null) => number,
): number[] =>
  workload.dimensions.map(({ kind }, d) =>
    kind === 'k' ? 0 : of(d, SIDES.find((role) => roles[role] === d) ?? null),
  );

/** Tiles of one level in a matmul: one batch. */
export const matmulLevel = (problem: Shaped, rows: number, columns: number): number[] =>
  levelOf(problem, (_, role) => (role === 'row' ? rows : role === 'column' ? columns : 1));

/** Tiles of one owner, such as a thread, and the number of owners in a workgroup. */
interface Side {
  readonly tile: number;
  readonly count: number;
}

/**
 * Divides the tiles of a workgroup along rows and columns among owners. If the innermost dimension is too short, the next outer dimension
 * gets the rest; without an outer dimension the rest is dropped.
 * @param tiles number of tiles of a workgroup along rows and columns
 * @param counts number of owners along rows and columns
 * @param elements of one tile along rows and columns
 */
export function sidesOf(
  { workload: { dimensions }, roles }: Shaped,
  tiles: readonly [rows: number, columns: number],
  counts: readonly [rows: number, columns: number],
  elements: readonly [rows: number, columns: number],
): OfEachSide<Side> {
  const outer = dimensions[roles.outer];
  const divided = (role: 'row' | 'column', i: 0 | 1) => {
    const own = dimensions[roles[role]];
    const hasOuter = outer !== undefined && outer.kind === own?.kind;
    const fitting = 2 ** Math.ceil(Math.log2((own?.size ?? 1) / elements[i]));
    const inner = Math.max(1, Math.min(tiles[i], fitting));
    const count = Math.min(counts[i], inner);
    const rest = hasOuter ? Math.max(1, tiles[i] / inner) : 1;
    const outerCount = Math.min(counts[i] / count, rest);
    return {
      hasOuter,
      side: { tile: inner / count, count },
      rest: { tile: rest / outerCount, count: outerCount },
    };
  };
  const [rows, columns] = [divided('row', 0), divided('column', 1)];
  return { row: rows.side, column: columns.side, outer: (rows.hasOuter ? rows : columns).rest };
}
