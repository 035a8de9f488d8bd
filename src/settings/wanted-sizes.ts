// The sizes of dynamic dimensions that the user asks for: by the letters of a matmul, or by names of the program.
import { ascending, KIND_ORDER, type TunedSizes } from '../workload/sizes.ts';

/** Sizes for one name. */
export interface NamedSizes {
  /** A letter or word of a kind of dimension, a symbol of the program, or `arg0.1`; all but kinds also behind a function: `prefill.seq`. */
  readonly name: string;
  /** Smallest first, each once. */
  readonly sizes: readonly number[];
}

/** Sizes that belong together: each combination of them is one call. Each name occurs once. */
export type SizeSet = readonly NamedSizes[];

/** Sets between which sizes are not combined. */
export type WantedSizes = readonly SizeSet[];

/** `b` is an older spelling of `batch`. */
export const sizeName = (name: string): string => (name === 'b' ? 'batch' : name);

/**
 * Reads `seq=32,512 batch=1`, with `/` between sets: `batch=1 seq=512 / batch=4,16 seq=1`. Empty text gives no sets.
 * @returns null for other text
 */
export function parseSizes(text: string): WantedSizes | null {
  const sets: SizeSet[] = [];
  for (const one of text.split('/')) {
    const found = new Map<string, number[]>();
    for (const part of one.split(/[\s;]+/).filter((part) => part !== '')) {
      const [, name, list] = /^([^\s=,]+)=(\d+(?:,\d+)*)$/.exec(part) ?? [];
      if (name === undefined) return null;
      const values = list!.split(',').map(Number);
      if (values.some((value) => !Number.isSafeInteger(value) || value < 1)) return null;
      found.set(sizeName(name), [...(found.get(sizeName(name)) ?? []), ...values]);
    }
    if (found.size > 0) sets.push([...found].map(([name, values]) => ({ name, sizes: ascending(values) })));
    else if (text.trim() !== '') return null;
  }
  return sets;
}

/** The canonical text of sizes, for `parseSizes`. */
export const sizesText = (wanted: WantedSizes): string =>
  wanted
    .map((set) =>
      set
        .map(({ name, sizes }) => `${name}=${sizes.join(',')}`)
        .sort()
        .join(' '),
    )
    .join(' / ');

/** The sizes that are given by kinds of dimensions, in all sets together. */
export function sizesByKind(wanted: WantedSizes): TunedSizes {
  const all = KIND_ORDER.map(
    (kind) =>
      [kind, ascending(wanted.flat().flatMap(({ name, sizes }) => (name === kind ? sizes : [])))] as const,
  );
  return Object.fromEntries(all.filter(([, sizes]) => sizes.length > 0));
}
