// The knobs of IREE's SPIR-V pipeline. The number of threads is no knob, because it follows from the tiles. The compiler accepts a wrong
// number silently.

/** The largest tile of a valid configuration. */
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
  /** Steps along reduction dimensions, in elements; 0 along parallel dimensions. */
  readonly reduction: readonly number[];
  /**
   * Innermost tile of a thread in a convolution: 1 along the image's rows, 0 elsewhere. Absent for other workloads.
   */
  readonly window?: readonly number[];
}

export const KINDS: readonly VulkanConfiguration['kind'][] = ['spirv-tile'];

/** Keys of the stored JSON, in their order: equal configurations give equal text. */
export const JSON_KEYS: readonly string[] = Object.keys({
  ...{ version: true, kind: true, workgroup: true, thread: true, reduction: true, window: true },
} satisfies Readonly<Record<keyof VulkanConfiguration, true>>);

const level = (name: string, tiles: readonly number[]) => ` ${name}=${tiles.join(',')}`;

/** A short text for people. Equal configurations give equal text. */
export const keyOf = ({ kind, workgroup, thread, reduction, window }: VulkanConfiguration): string =>
  kind +
  level('wg', workgroup) +
  level('thread', thread) +
  level('k', reduction) +
  (window === undefined ? '' : level('window', window));
