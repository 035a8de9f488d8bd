// What somebody may have meant who has mistyped a name. Pure.

/** So much of a name may be wrong. */
const LARGEST_SHARE = 0.4;

/** ` (did you mean ...?)` with the name that is nearest; nothing where none is near. */
export function didYouMean(typed: string, names: readonly string[]): string {
  const most = Math.max(1, Math.floor(LARGEST_SHARE * typed.length));
  const found = names
    .map((name) => ({ name, distance: distanceOf(typed, name) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance)[0];
  return found === undefined ? '' : ` (did you mean ${found.name}?)`;
}

/** Characters to insert, remove or replace, or to swap with the next one, until the one is the other. */
function distanceOf(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const [above, diagonal] = [rows[i - 1]![j]!, rows[i - 1]![j - 1]!];
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        above + 1,
        row[j - 1]! + 1,
        diagonal + (a[i - 1] === b[j - 1] ? 0 : 1),
        isSwap ? rows[i - 2]![j - 2]! + 1 : Infinity,
      );
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
