// What differs between the GPU backends in the knobs of one pipeline. A knob with one value is none.

export interface Traits {
  /** Whether loads run ahead in stages, which `prefetch` counts. */
  readonly hasStages: boolean;
  readonly prefetch: readonly number[];
  /** 0 leaves it to the compiler. */
  readonly wavesPerEu: readonly number[];
  /** Whether rows in shared memory are lengthened: 0 or 1. */
  readonly bankPadding: readonly number[];
}
