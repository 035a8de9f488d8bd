// Dynamic dimensions: the sizes that a contraction is tuned at when its text does not say them.
import type { DimensionKind, Workload } from './workload.ts';

/** Sizes to tune dynamic dimensions of each kind at, smallest first. */
export type TunedSizes = Readonly<Partial<Record<DimensionKind, readonly number[]>>>;

/** Every combination is compiled into every module of candidates and measured. */
const MOST_COMBINATIONS = 16;

const KINDS: Readonly<Record<string, DimensionKind>> = { b: 'batch', batch: 'batch', m: 'm', n: 'n', k: 'k' };

/** Reads `m=1,16,128` or, for several kinds, `m=1,16 k=512`; null when it is not such a text. */
export function parseSizes(text: string): TunedSizes | null {
  const sizes: Partial<Record<DimensionKind, readonly number[]>> = {};
  for (const part of text.split(/[\s;]+/).filter((part) => part !== '')) {
    const [, letter, list] = /^(\w+)=(\d+(?:,\d+)*)$/.exec(part) ?? [];
    const kind = KINDS[letter ?? ''];
    if (kind === undefined) return null;
    const values = list!.split(',').map(Number);
    if (values.some((value) => !Number.isSafeInteger(value) || value < 1)) return null;
    sizes[kind] = [...new Set([...(sizes[kind] ?? []), ...values])].sort((a, b) => a - b);
  }
  return sizes;
}

/** The same workload with sizes for its dynamic dimensions, or why it cannot be tuned. */
export function atSizes(workload: Workload, wanted: TunedSizes): Workload | { readonly skipped: string } {
  const open = workload.dimensions.filter(({ sizes }) => sizes !== undefined);
  if (open.length === 0) return workload;
  const missing = [...new Set(open.map(({ kind }) => kind))].filter((kind) => wanted[kind] === undefined);
  if (missing.length > 0) {
    const example = missing.map((kind) => `${kind === 'batch' ? 'b' : kind}=1,16,128`).join(' ');
    return {
      skipped: `dynamic dimensions without sizes to tune at: give some, such as --iree-tuned-dim="${example}"`,
    };
  }
  const combinations = open.reduce((product, { kind }) => product * wanted[kind]!.length, 1);
  if (combinations > MOST_COMBINATIONS)
    return {
      skipped: `dynamic dimensions with too many sizes: ${combinations} combinations, of ${MOST_COMBINATIONS} at most`,
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
