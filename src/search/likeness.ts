// What trials tell about points that were not tried: a Gaussian process whose kernel is the share of trees in which two points have the
// same leaf.

/** How uncertain the forest's predictions are, in the units of its values. */
export interface Doubt {
  /** Standard deviation of what the forest cannot know of a new workload. */
  readonly ofPrior: number;
  /** Standard deviation of a measurement. */
  readonly ofTrial: number;
}

/** Share of trees with the same leaf, which falls quickly for points that are less alike. */
export function likeness(a: Uint8Array, b: Uint8Array): number {
  let same = 0;
  for (let i = 0; i < a.length; i++) if (a[i] === b[i]) same++;
  return (same / a.length) ** 2;
}

/** Trials as a Gaussian process knows them. */
export class Trials {
  readonly #doubt: Doubt;
  readonly #leaves: Uint8Array[] = [];
  /** Rows of a lower triangular matrix: the Cholesky factor of the kernel of all trials, with their noise. */
  readonly #factor: number[][] = [];

  constructor(doubt: Doubt) {
    this.#doubt = doubt;
  }

  /** Adds a point, measured or to be measured. */
  add(leaves: Uint8Array): void {
    const row = this.against(leaves);
    const own = this.#varianceAt(row) + this.#doubt.ofTrial ** 2;
    this.#leaves.push(leaves);
    this.#factor.push([...row, Math.sqrt(Math.max(own, 1e-9))]);
  }

  /** The covariances of a point with all trials, multiplied by the inverse of the factor. */
  against(leaves: Uint8Array): number[] {
    const { ofPrior } = this.#doubt;
    const row: number[] = [];
    for (const [i, other] of this.#leaves.entries()) {
      let sum = ofPrior ** 2 * likeness(leaves, other);
      const factor = this.#factor[i]!;
      for (let j = 0; j < i; j++) sum -= factor[j]! * row[j]!;
      row.push(sum / factor[i]!);
    }
    return row;
  }

  /** How uncertain a point still is. @param row as `against` gives it */
  deviationAt(row: readonly number[]): number {
    return Math.sqrt(Math.max(this.#varianceAt(row), 1e-6));
  }

  #varianceAt(row: readonly number[]): number {
    return this.#doubt.ofPrior ** 2 - row.reduce((sum, one) => sum + one * one, 0);
  }

  /** Values of the trials, multiplied by the inverse of the factor. @param values in the order in which points were added */
  solved(values: readonly number[]): number[] {
    const solution: number[] = [];
    for (const [i, value] of values.entries()) {
      let sum = value;
      const factor = this.#factor[i]!;
      for (let j = 0; j < i; j++) sum -= factor[j]! * solution[j]!;
      solution.push(sum / factor[i]!);
    }
    return solution;
  }
}
