// Filters of dispatches by name, as the dispatch profiler has them: called regular expressions there, and none. Pure.

/** All configurations' names begin so. */
const CONFIGURATION = 'tile_config';

/** Kinds, and element types with their layouts: no configuration has them. */
const OF_OPERATION = /matmul|conv2d|(?:^|_)(?:bf|f|i|ui)\d+[tn]/;

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
    mayBeWanted: (operation) => isAll || patterns.some((parts) => mayBeOf(`${operation}_`, parts)),
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

/** What is said of the operation has to be there, in its order; what can only be of a configuration will be seen. */
function mayBeOf(operation: string, parts: readonly string[]): boolean {
  let from = 0;
  for (const part of parts) {
    const ofOperation = part.split(CONFIGURATION)[0]!;
    const found = operation.indexOf(ofOperation, from);
    if (found < 0) return !OF_OPERATION.test(ofOperation);
    from = found + ofOperation.length;
    if (ofOperation !== part) return true;
  }
  return true;
}
