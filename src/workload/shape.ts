// The place of a workload among workloads of the same structure, for searches of neighbours in the database.
import { sha256 } from '../system/hash.ts';
import { KIND_ORDER } from './sizes.ts';
import { structureOf, type Workload } from './workload.ts';

export interface Shape {
  /** Digest, below 2^48. Equal for workloads that differ only in sizes and surroundings. */
  readonly structure: number;
  /** For each kind of dimension, the base-2 logarithm of the product of its sizes; 0 without such a dimension. */
  readonly sizes: readonly [batch: number, m: number, n: number, k: number];
  /** Z-order of the sizes, below 2^52: similar sizes mostly have similar places. */
  readonly place: number;
}

export function shapeOf(workload: Workload): Shape {
  const [batch, m, n, k] = KIND_ORDER.map((kind) =>
    workload.dimensions.reduce(
      (sum, one) => (one.kind === kind ? sum + Math.log2(Math.max(1, one.size)) : sum),
      0,
    ),
  );
  const sizes = [batch!, m!, n!, k!] as const;
  const structure = Number.parseInt(sha256(structureOf(workload)).slice(0, 12), 16);
  return { structure, sizes, place: placeOf(sizes) };
}

/** Steps for each doubling of a size. */
const STEPS = 256;

/** Bits of a size in such steps. */
const BITS = 13;

/** Shifts the borders of the Z-order's halves away from powers of two, which are the most frequent sizes. */
const OFFSET = 1 / 3;

function placeOf(sizes: readonly number[]): number {
  const steps = sizes.map((size) => Math.min(2 ** BITS - 1, Math.floor(STEPS * (size + OFFSET))));
  let place = 0;
  for (let bit = BITS - 1; bit >= 0; bit--)
    for (let i = steps.length - 1; i >= 0; i--) place = 2 * place + ((steps[i]! >> bit) & 1);
  return place;
}
