// Finds the changes to keep when all changes together do harm.

export interface Scored<T> {
  readonly subset: readonly T[];
  readonly score: number;
}

/**
 * Finds a large subset of `items` that scores at least `least`, by halving: all items if they reach it; otherwise the best subsets of
 * both halves, together if they reach it, else the better one. The empty subset scores 1.
 * @param scoreOf of a subset; called about 2 * log2(items) times for each harmful item
 */
export async function bestSubset<T>(
  items: readonly T[],
  least: number,
  scoreOf: (subset: readonly T[]) => Promise<number>,
): Promise<Scored<T>> {
  const nothing: Scored<T> = { subset: [], score: 1 };
  if (items.length === 0) return nothing;
  const score = await scoreOf(items);
  if (score >= least) return { subset: items, score };
  if (items.length === 1) return nothing;
  const middle = items.length >> 1;
  const halves = [
    await bestSubset(items.slice(0, middle), least, scoreOf),
    await bestSubset(items.slice(middle), least, scoreOf),
  ];
  const parts = halves.filter(({ subset }) => subset.length > 0);
  const together = parts.flatMap(({ subset }) => subset);
  if (parts.length === 2 && together.length < items.length) {
    const score = await scoreOf(together);
    if (score >= least) return { subset: together, score };
  }
  return parts.sort((a, b) => b.score - a.score)[0] ?? nothing;
}
