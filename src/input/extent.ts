// The size of a dimension as an expression of other sizes, such as `batch * seq`. Pure.

/** A number, the name of a size, or an operation on two extents. */
export type Extent = number | string | readonly [operator: Operator, left: Extent, right: Extent];

const OPERATORS = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  floordiv: (a, b) => Math.floor(a / b),
  ceildiv: (a, b) => Math.ceil(a / b),
  mod: (a, b) => a - b * Math.floor(a / b),
  min: Math.min,
  max: Math.max,
} satisfies Record<string, (a: number, b: number) => number>;

export type Operator = keyof typeof OPERATORS;

/** Deepest expression. Real ones have a few operations. */
const DEEPEST = 24;

const depthOf = (extent: Extent): number =>
  typeof extent === 'object' ? 1 + Math.max(depthOf(extent[1]), depthOf(extent[2])) : 0;

/** An operation on two extents; null if one is unknown or the expression gets too deep. Constants are folded. */
export function combined(operator: Operator, left: Extent | null, right: Extent | null): Extent | null {
  if (left === null || right === null) return null;
  if (typeof left === 'number' && typeof right === 'number') return OPERATORS[operator](left, right);
  const all: Extent = [operator, left, right];
  return depthOf(all) > DEEPEST ? null : all;
}

/** The value at these sizes; null if a name has no size or the value is no size. */
export function evaluated(extent: Extent, sizeOf: (name: string) => number | null): number | null {
  const value = valueOf(extent, sizeOf);
  return Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function valueOf(extent: Extent, sizeOf: (name: string) => number | null): number {
  if (typeof extent === 'number') return extent;
  if (typeof extent === 'string') return sizeOf(extent) ?? NaN;
  const [operator, left, right] = extent;
  return OPERATORS[operator](valueOf(left, sizeOf), valueOf(right, sizeOf));
}

/** The extent with other extents in place of its names; null if one is unknown. */
export function substituted(extent: Extent, extentOf: (name: string) => Extent | null): Extent | null {
  if (typeof extent === 'number') return extent;
  if (typeof extent === 'string') return extentOf(extent);
  const [operator, left, right] = extent;
  return combined(operator, substituted(left, extentOf), substituted(right, extentOf));
}

/** Whether a value that was read is an extent. */
export function isExtent(value: unknown, deepest = DEEPEST): value is Extent {
  if (Array.isArray(value))
    return (
      deepest > 0 &&
      value.length === 3 &&
      Object.hasOwn(OPERATORS, value[0] as string) &&
      value.slice(1).every((one) => isExtent(one, deepest - 1))
    );
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/** The results of `affine_map<()[s0, s1] -> (s0, s1 * 2)>`, by the names of its dimensions and symbols; null for other text. */
export function resultsOfMap(
  map: string,
): { readonly names: readonly string[]; readonly results: readonly Extent[] } | null {
  const [, dimensions, symbols = '', results] =
    /^affine_map<\(([\w, ]*)\)(?:\[([\w, ]*)\])? -> \((.*)\)>$/.exec(map) ?? [];
  if (results === undefined) return null;
  const names = [dimensions!, symbols].flatMap((list) => (list === '' ? [] : list.split(', ')));
  const extents = results === '' ? [] : results.split(', ').map(parsedExpression);
  return extents.includes(null) ? null : { names, results: extents as Extent[] };
}

/** Operators by how tightly they bind, the loosest first. */
const LEVELS: readonly (readonly string[])[] = [
  ['+', '-'],
  ['*', 'floordiv', 'ceildiv', 'mod'],
];

/** An affine expression, such as `(s0 + 15) floordiv 16`; null for other text. */
function parsedExpression(text: string): Extent | null {
  const tokens = text.match(/\d+|[a-z]\w*|\S/g) ?? [];
  let at = 0;
  const readLevel = (level: number): Extent | null => {
    if (level === LEVELS.length) return readTerm();
    let left = readLevel(level + 1);
    while (LEVELS[level]!.includes(tokens[at] ?? '')) {
      const operator = tokens[at++] as Operator;
      left = combined(operator, left, readLevel(level + 1));
    }
    return left;
  };
  const readTerm = (): Extent | null => {
    const token = tokens[at++] ?? '';
    if (token === '-') return combined('-', 0, readTerm());
    if (token === '(') {
      const inner = readLevel(0);
      return tokens[at++] === ')' ? inner : null;
    }
    if (/^\d/.test(token)) return Number(token);
    return /^[a-z]/.test(token) ? token : null;
  };
  const all = tokens.length > LONGEST ? null : readLevel(0);
  return at === tokens.length ? all : null;
}

/** Most tokens of an expression. */
const LONGEST = 100;
