// Dynamic dimensions: the sizes that work is tuned at when its text does not say them.

/** What a dimension is called in a setting: the batch, rows, columns, and what is summed over. */
export type TunedDimension = 'batch' | 'm' | 'n' | 'k';

/** Sizes to tune dynamic dimensions of each kind at, smallest first. */
export type TunedSizes = Readonly<Partial<Record<TunedDimension, readonly number[]>>>;

const DIMENSIONS: Readonly<Record<string, TunedDimension>> = {
  b: 'batch',
  batch: 'batch',
  m: 'm',
  n: 'n',
  k: 'k',
};

/** What `parseSizes` reads as these sizes: equal sizes give equal text. */
export const sizesText = (sizes: TunedSizes): string =>
  Object.entries(sizes)
    .map(([dimension, values]) => `${dimension}=${values.join(',')}`)
    .sort()
    .join(' ');

/** Reads `m=1,16,128` or, for several kinds, `m=1,16 k=512`; null when it is not such a text. */
export function parseSizes(text: string): TunedSizes | null {
  const sizes: Partial<Record<TunedDimension, readonly number[]>> = {};
  for (const part of text.split(/[\s;]+/).filter((part) => part !== '')) {
    const [, letter, list] = /^(\w+)=(\d+(?:,\d+)*)$/.exec(part) ?? [];
    const dimension = DIMENSIONS[letter ?? ''];
    if (dimension === undefined) return null;
    const values = list!.split(',').map(Number);
    if (values.some((value) => !Number.isSafeInteger(value) || value < 1)) return null;
    sizes[dimension] = [...new Set([...(sizes[dimension] ?? []), ...values])].sort((a, b) => a - b);
  }
  return sizes;
}
