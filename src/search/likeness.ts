// A Gaussian process over points. Its kernel is the share of trees in which two points have the same leaf.

/** Uncertainty of predictions, in the units of the forest's values. */
export interface Doubt {
  /** Standard deviation of the forest's error for a new workload. */
  readonly ofPrior: number;
  /** Standard deviation of a measurement. */
  readonly ofTrial: number;
}

/** The squared share of trees with the same leaf. */
export function likeness(a: Uint16Array, b: Uint16Array): number {
  let same = 0;
  for (let i = 0; i < a.length; i++) if (a[i] === b[i]) same++;
  return (same / a.length) ** 2;
}

/** The trials of a Gaussian process. */
export class Trials {
  readonly #doubt: Doubt;
  readonly #leaves: Uint16Array[] = [];
  /** Rows of the Cholesky factor (lower triangle) of the trials' kernel matrix with noise. */
  readonly #factor: number[][] = [];

  constructor(doubt: Doubt) {
    this.#doubt = doubt;
  }

  /** Adds a point that is measured, or that will be. */
  add(leaves: Uint16Array): void {
    const row = this.against(leaves);
    const own = this.#varianceAt(row) + this.#doubt.ofTrial ** 2;
    this.#leaves.push(leaves);
    this.#factor.push([...row, Math.sqrt(Math.max(own, 1e-9))]);
  }

  /** The covariances of a point with all trials, times the inverse of the factor. */
  against(leaves: Uint16Array): number[] {
    const { ofPrior } = this.#doubt;
    return this.solved(this.#leaves.map((other) => ofPrior ** 2 * likeness(leaves, other)));
  }

  /** Standard deviation of the prediction for a point. @param row result of `against` */
  deviationAt(row: readonly number[]): number {
    return Math.sqrt(Math.max(this.#varianceAt(row), 1e-6));
  }

  #varianceAt(row: readonly number[]): number {
    return this.#doubt.ofPrior ** 2 - row.reduce((sum, one) => sum + one * one, 0);
  }

  /** The inverse of the factor times values of the trials. @param values in the order of `add` */
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
