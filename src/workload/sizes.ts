// Dynamic dimensions: the sizes that work is tuned at when its text does not say them.
import { isIntegerWithin } from '../system/data.ts';
import { because, type Reason } from '../system/reason.ts';

/** What a dimension is called in a setting: the batch, rows, columns, and what is summed over. */
export type TunedDimension = 'batch' | 'm' | 'n' | 'k';

/** Sizes to tune dynamic dimensions of each kind at, smallest first. */
export type TunedSizes = Readonly<Partial<Record<TunedDimension, readonly number[]>>>;

/** Sizes of one dynamic dimension that a database may hold. */
const MOST_SIZES = 64;

/** Whether a value is sizes of a dynamic dimension, smallest first; empty while it has none. */
export const areSizes = (value: unknown): value is number[] =>
  Array.isArray(value) &&
  value.length <= MOST_SIZES &&
  value.every((size, i) =>
    isIntegerWithin(size, ((value[i - 1] as number | undefined) ?? 0) + 1, Number.MAX_SAFE_INTEGER),
  );

/** Why work with dynamic dimensions of these kinds is not tuned. */
export const sizesWanted = (kinds: readonly TunedDimension[]): Reason => {
  const some = kinds.map((kind) => `${kind === 'batch' ? 'b' : kind}=1,16,128`).join(' ');
  return because(
    'sizes-missing',
    `dynamic dimensions without sizes to tune at: give some, such as --iree-tuned-dim="${some}"`,
  );
};

/** All sizes of any dimension, smallest first. */
export const allSizes = (sizes: TunedSizes): number[] =>
  [...new Set(Object.values(sizes).flat())].sort((a, b) => a - b);

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
