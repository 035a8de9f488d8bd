// Differences between the knobs of the GPU backends. A knob with one value is fixed.

export interface Traits {
  /** Whether there are prefetch stages. */
  readonly hasStages: boolean;
  readonly prefetch: readonly number[];
  /** 0 stands for the compiler's choice. */
  readonly wavesPerEu: readonly number[];
  /** Bank padding of rows in shared memory: 0 or 1. */
  readonly bankPadding: readonly number[];
}
