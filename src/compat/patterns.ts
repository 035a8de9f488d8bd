// Filters of dispatches by name in the syntax of the dispatch profiler, which calls them regular expressions. Pure.

/** Prefix of names of configurations. */
const CONFIGURATION = 'tile_config';

/** Kinds, and element types with layouts, which only operations have. */
const OF_OPERATION = /matmul|conv2d|(?:^|_)(?:bf|f|i|ui)\d+[tn]/;

export interface Patterns {
  isWanted(dispatch: string): boolean;
  /** Whether any dispatch of an operation may match. */
  mayBeWanted(operation: string): boolean;
}

/** @param text comma-separated patterns; each has parts separated by `*`, which a name contains in order; `all` matches everything */
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

/** Whether the parts about the operation occur in order. Parts about a configuration are checked later. */
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
