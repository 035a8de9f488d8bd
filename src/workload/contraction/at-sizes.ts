// Contractions with sizes for their dynamic dimensions.
import { sizesWanted, type TunedSizes } from '../sizes.ts';
import type { Contraction } from './contraction.ts';
import { because, type Reason } from '../../system/reason.ts';

/** Each module of candidates compiles and measures every combination. */
const MOST_COMBINATIONS = 16;

/** The contraction with sizes for its dynamic dimensions, or the reason why it cannot be tuned. */
export function atSizes(
  workload: Contraction,
  wanted: TunedSizes,
): Contraction | { readonly skipped: Reason } {
  const open = workload.dimensions.filter(({ sizes }) => sizes !== undefined);
  if (open.length === 0) return workload;
  const missing = [...new Set(open.map(({ kind }) => kind))].filter((kind) => wanted[kind] === undefined);
  if (missing.length > 0) return { skipped: sizesWanted(missing) };
  const combinations = open.reduce((product, { kind }) => product * wanted[kind]!.length, 1);
  if (combinations > MOST_COMBINATIONS)
    return {
      skipped: because(
        'too-many-sizes',
        `dynamic dimensions with too many sizes: ${combinations} combinations, of ${MOST_COMBINATIONS} at most`,
      ),
    };
  return {
    ...workload,
    dimensions: workload.dimensions.map((dimension) => {
      if (dimension.sizes === undefined) return dimension;
      const sizes = wanted[dimension.kind]!;
      return { ...dimension, size: sizes.at(-1)!, sizes };
    }),
  };
}
