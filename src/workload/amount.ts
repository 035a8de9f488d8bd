// The amount of work of one call of a dispatch.

/** Null for an unknown number. */
export interface Amount {
  /** Multiplications of its products: each is one multiply-add. Single multiplications of other work do not count. */
  readonly multiplications: number | null;
  /** Element type of both factors, such as `f32`; `f16,f32` for two types; null without products. */
  readonly type: string | null;
  /** Bytes of all operands and results, each once. */
  readonly bytes: number | null;
}

/** The element type of the factors of a product. */
export const factorType = (lhs: string, rhs: string): string => (lhs === rhs ? lhs : `${lhs},${rhs}`);
