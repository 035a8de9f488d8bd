// Boosted regression trees: a sum of small trees that compare features with thresholds.

/** A tree as arrays over its nodes, the root first. */
export interface Tree {
  /** Index of the feature that a node compares; -1 for a leaf. */
  readonly feature: readonly number[];
  /** The threshold of an inner node, or the value of a leaf. */
  readonly value: readonly number[];
  /** Index of the child for features below the threshold. The other child is right after it. */
  readonly below: readonly number[];
}

export interface Forest {
  /** Start value of each prediction. */
  readonly base: number;
  readonly trees: readonly Tree[];
}

/** Index of the leaf for features. */
function leafOf({ feature, value, below }: Tree, x: readonly number[]): number {
  let node = 0;
  while (feature[node]! >= 0) node = below[node]! + (x[feature[node]!]! < value[node]! ? 0 : 1);
  return node;
}

export const valueAt = (tree: Tree, x: readonly number[]): number => tree.value[leafOf(tree, x)]!;

/** For each tree, the index of the leaf for features. Similar points share many leaves. */
export function leavesOf({ trees }: Forest, x: readonly number[]): Uint16Array {
  // A search predicts for thousands of points, and `Uint16Array.from` is slow.
  const leaves = new Uint16Array(trees.length);
  for (let i = 0; i < trees.length; i++) leaves[i] = leafOf(trees[i]!, x);
  return leaves;
}

export function predictionAt({ base, trees }: Forest, leaves: Uint16Array): number {
  let sum = base;
  for (let i = 0; i < trees.length; i++) sum += trees[i]!.value[leaves[i]!]!;
  return sum;
}

export const predict = (forest: Forest, x: readonly number[]): number =>
  predictionAt(forest, leavesOf(forest, x));
