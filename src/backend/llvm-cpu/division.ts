// How nested tiles divide a dimension.

export interface Division {
  /** Number of innermost tiles, partial ones included. */
  readonly tiles: number;
  /** Share of the size in whole innermost tiles. */
  readonly whole: number;
  /** The size as a share of the sizes of all innermost tiles, as if partial ones were whole. */
  readonly useful: number;
}

/**
 * Divides a dimension. An outer tile that the next inner one does not divide ends with a partial tile.
 * @param tiles from the outermost level to the innermost, none larger than the dimension
 */
export function divisionOf(size: number, tiles: readonly number[]): Division {
  const { count, inWhole } = divided(size, tiles);
  return { tiles: count, whole: inWhole / size, useful: size / (count * tiles.at(-1)!) };
}

/** Number of innermost tiles, and the part of the size in whole ones. */
function divided(size: number, [tile, ...inner]: readonly number[]): { count: number; inWhole: number } {
  const whole = Math.floor(size / tile!);
  const rest = size % tile!;
  if (inner.length === 0) return { count: whole + (rest > 0 ? 1 : 0), inWhole: whole * tile! };
  const [each, last] = [divided(tile!, inner), divided(rest, inner)];
  return { count: whole * each.count + last.count, inWhole: whole * each.inWhole + last.inWhole };
}

export const asOne = (divisions: readonly Division[]): Division =>
  divisions.reduce(
    (all, one) => ({
      tiles: all.tiles * one.tiles,
      whole: all.whole * one.whole,
      useful: all.useful * one.useful,
    }),
    { tiles: 1, whole: 1, useful: 1 },
  );
