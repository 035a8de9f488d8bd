// Boosted regression trees: a sum of small trees, each of which asks of one number after the other whether it is below a threshold.

/** A tree as its nodes, the root first. */
export interface Tree {
  /** Index of the number that a node asks about; -1 for a leaf. */
  readonly feature: readonly number[];
  /** Of an inner node, its threshold; of a leaf, its value. */
  readonly value: readonly number[];
  /** Index of the node to go on with where the number is below the threshold; the other one follows it. */
  readonly below: readonly number[];
}

export interface Forest {
  /** What every prediction begins with. */
  readonly base: number;
  readonly trees: readonly Tree[];
}

/** Index of the leaf that numbers lead to. */
function leafOf({ feature, value, below }: Tree, x: readonly number[]): number {
  let node = 0;
  while (feature[node]! >= 0) node = below[node]! + (x[feature[node]!]! < value[node]! ? 0 : 1);
  return node;
}

/** What one tree says of numbers. */
export const valueAt = (tree: Tree, x: readonly number[]): number => tree.value[leafOf(tree, x)]!;

/** For each tree the leaf: two that have many of them in common are alike. */
export const leavesOf = ({ trees }: Forest, x: readonly number[]): Uint8Array =>
  Uint8Array.from(trees, (tree) => leafOf(tree, x));

/** The prediction of numbers that lead to these leaves. */
export const predictionAt = ({ base, trees }: Forest, leaves: Uint8Array): number =>
  trees.reduce((sum, { value }, i) => sum + value[leaves[i]!]!, base);

export const predict = (forest: Forest, x: readonly number[]): number =>
  predictionAt(forest, leavesOf(forest, x));
