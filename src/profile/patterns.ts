// Filters of dispatches by name, as the dispatch profiler has them: called regular expressions there, and none. Pure.

/** All configurations' names begin so. */
const CONFIGURATION = 'tile_config';

export interface Patterns {
  /** Whether a dispatch is wanted, by its whole name. */
  isWanted(dispatch: string): boolean;
  /** Whether a dispatch of an operation may be. */
  mayBeWanted(operation: string): boolean;
}

/** @param text patterns with commas between them, each of parts with `*` between them that a name has in that order; `all` for every one */
export function patternsOf(text: string): Patterns {
  const patterns = text
    .split(',')
    .filter((one) => one !== '')
    .map((one) => one.split('*'));
  const isAll = text === 'all' || patterns.length === 0;
  return {
    isWanted: (dispatch) => isAll || patterns.some((parts) => areIn(dispatch, parts)),
    mayBeWanted: (operation) =>
      isAll || patterns.some((parts) => areIn(`${operation}_`, beforeConfiguration(parts))),
  };
}

function areIn(name: string, parts: readonly string[]): boolean {
  let from = 0;
  return parts.every((part) => {
    const found = name.indexOf(part, from);
    from = found + part.length;
    return found >= 0;
  });
}

/** What a pattern says of the operation alone. */
function beforeConfiguration(parts: readonly string[]): string[] {
  const i = parts.findIndex((part) => part.includes(CONFIGURATION));
  if (i < 0) return [...parts];
  const part = parts[i]!;
  return [...parts.slice(0, i), part.slice(0, part.indexOf(CONFIGURATION))];
}
