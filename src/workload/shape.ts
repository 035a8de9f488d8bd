// Where a workload lies among others of its structure: its sizes, and a number that is close for close sizes.
import { sha256 } from '../system/sha256.ts';
import { structureOf, type Workload } from './workload.ts';

/** Kinds of dimensions whose sizes are compared. */
const KINDS = ['batch', 'm', 'n', 'k'] as const;

export interface Shape {
  /** Equal for workloads that differ in nothing but sizes and surroundings; below 2^48. */
  readonly structure: number;
  /** Logarithms to base 2 of the sizes along all dimensions of a kind together: batch, m, n, k; 0 without such a dimension. */
  readonly sizes: readonly [batch: number, m: number, n: number, k: number];
  /** Z-order of the sizes: neighbours in space are mostly neighbours on this line; below 2^52. */
  readonly place: number;
}

export function shapeOf(workload: Workload): Shape {
  const [batch, m, n, k] = KINDS.map((kind) =>
    workload.dimensions.reduce(
      (sum, one) => (one.kind === kind ? sum + Math.log2(Math.max(1, one.size)) : sum),
      0,
    ),
  );
  const sizes = [batch!, m!, n!, k!] as const;
  const structure = Number.parseInt(sha256(structureOf(workload)).slice(0, 12), 16);
  return { structure, sizes, place: placeOf(sizes) };
}

/** Steps of a doubling, and bits of a size in such steps. */
const STEPS = 256;
const BITS = 13;

/** The halves of the line part between powers of two, which are the sizes that most workloads have. */
const OFFSET = 1 / 3;

function placeOf(sizes: readonly number[]): number {
  const steps = sizes.map((size) => Math.min(2 ** BITS - 1, Math.floor(STEPS * (size + OFFSET))));
  let place = 0;
  for (let bit = BITS - 1; bit >= 0; bit--)
    for (let i = steps.length - 1; i >= 0; i--) place = 2 * place + ((steps[i]! >> bit) & 1);
  return place;
}
