// The knobs of IREE's SPIR-V pipeline for any operation. Numbers of threads follow from tiles: the compiler accepts wrong ones silently.

/** No tile is larger: what a database says beyond that is no configuration. */
export const LARGEST_TILE = 2 ** 20;

/**
 * Tiles for `BaseVectorize`: each thread computes a tile of the result in registers. Arrays have one entry for each dimension of the
 * workload; 0 means "not tiled at this level".
 */
export interface VulkanConfiguration {
  readonly version: 1;
  readonly kind: 'spirv-tile';
  /** Elements of one workgroup; 0 along reduction dimensions. */
  readonly workgroup: readonly number[];
  /** Elements of one thread; 0 along reduction dimensions. */
  readonly thread: readonly number[];
  /** Elements summed at once; 0 along parallel dimensions. */
  readonly reduction: readonly number[];
  /**
   * What a thread computes at once where a filter is moved over an image: 1 along the image's rows, 0 elsewhere. Absent where
   * nothing is moved.
   */
  readonly window?: readonly number[];
}

export const KINDS: readonly VulkanConfiguration['kind'][] = ['spirv-tile'];

/** Keys of the JSON that a configuration is stored as, in their order: equal configurations give equal text. */
export const JSON_KEYS: readonly string[] = Object.keys({
  ...{ version: true, kind: true, workgroup: true, thread: true, reduction: true, window: true },
} satisfies Readonly<Record<keyof VulkanConfiguration, true>>);

const level = (name: string, tiles: readonly number[]) => ` ${name}=${tiles.join(',')}`;

/** A short text for people: equal configurations give equal text. */
export const keyOf = ({ kind, workgroup, thread, reduction, window }: VulkanConfiguration): string =>
  kind +
  level('wg', workgroup) +
  level('thread', thread) +
  level('k', reduction) +
  (window === undefined ? '' : level('window', window));
