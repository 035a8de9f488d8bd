// The dynamic dimensions of a function's arguments, and the names by which sizes are given to them. Pure.
import type { PublicFunction, Type } from 'mlir-parser-ts';
import { bufferOf } from '../system/bytes.ts';
import { resultsOfMap, substituted, type Extent } from './extent.ts';

/** A size of a program that is known only at run time. */
export interface DynamicSize {
  /** A symbol of the program, such as `seq`, or the place of the dimension, such as `arg0.1`. */
  readonly name: string;
  /** The places of the dimensions that have exactly this size. */
  readonly places: readonly string[];
  /** The smallest and the largest size that the program says; infinite without a largest one. Null if it says nothing. */
  readonly range: readonly [least: number, largest: number] | null;
}

/** The dynamic dimensions of a function's arguments. */
export interface DynamicDimensions {
  readonly sizes: readonly DynamicSize[];
  /** For each argument, the extent of each dimension, by the names of `sizes`. Null for an argument that is no tensor. */
  readonly extents: readonly (readonly Extent[] | null)[];
}

/** The place of a dimension of an argument, as users spell it. */
export const placeOf = (argument: number, dimension: number): string => `arg${argument}.${dimension}`;

/**
 * Reads the dynamic dimensions of a function. Exporters of PyTorch name them by `torch.symbolic_int` and bind arguments to the names.
 * @param text the program
 */
export function dynamicDimensions(
  { start, end, arguments: types }: Pick<PublicFunction, 'start' | 'end' | 'arguments'>,
  text: Uint8Array,
): DynamicDimensions {
  const shapes = types.map(shapeOf);
  const isDynamic = shapes.some((shape) => shape?.some((size) => size < 0));
  const { ranges, bound } = isDynamic ? symbolsIn(text, start, end) : NO_SYMBOLS;
  const places = new Map<string, string[]>();
  const extents = shapes.map((shape, i) => {
    const own = bound.get(i);
    const isBound = own?.length === shape?.length;
    return (
      shape?.map((size, d): Extent => {
        if (size >= 0) return size;
        const place = placeOf(i, d);
        const extent = (isBound ? own?.[d] : null) ?? place;
        for (const name of namesIn(extent)) places.set(name, places.get(name) ?? []);
        if (typeof extent === 'string') places.get(extent)!.push(place);
        return extent;
      }) ?? null
    );
  });
  const sizes = [...places].map(([name, own]) => ({ name, places: own, range: ranges.get(name) ?? null }));
  return { sizes, extents };
}

const shapeOf = (type: Type): readonly number[] | null => (type.kind === 'opaque' ? null : type.shape);

function namesIn(extent: Extent): string[] {
  if (typeof extent === 'object') return [...namesIn(extent[1]), ...namesIn(extent[2])];
  return typeof extent === 'string' ? [extent] : [];
}

interface Symbols {
  readonly ranges: ReadonlyMap<string, readonly [number, number]>;
  /** The extents of bound arguments, by their number. */
  readonly bound: ReadonlyMap<number, readonly Extent[]>;
}

const NO_SYMBOLS: Symbols = { ranges: new Map(), bound: new Map() };

const SYMBOLIC_INT =
  /(%\w+) = torch\.symbolic_int "([^"\\\s=,;/]+)"(?: \{min_val = (\d+), max_val = (\d+)\})?/g;
/** The compiler prints the arguments of a function as `%arg0`, `%arg1`, ... */
const BOUND =
  /torch\.bind_symbolic_shape %arg(\d+), \[([^\]]*)\], (affine_map<[^>]*-> \([^)>]*(?:\([^)]*\)[^)>]*)*\)>|#\w+)/g;

/** PyTorch gives a bound of about 2^63 to a size without one. */
const UNLIMITED = 2 ** 60;

/** Aliases stand at the beginning, before the first weights. In bytes. */
const ALIASES = 2 ** 20;

/** The symbols in the body of a function. Bodies have weights of gigabytes, so only the parts with symbols become text. */
function symbolsIn(text: Uint8Array, start: number, end: number): Symbols {
  const body = bufferOf(text).subarray(start, end);
  const first = body.indexOf('torch.symbolic_int');
  if (first < 0) return NO_SYMBOLS;
  const lines = [
    ...linesWith(body, 'torch.symbolic_int'),
    ...linesWith(body, 'torch.bind_symbolic_shape %arg'),
  ];
  const found = lines.join('\n');
  const ranges = new Map<string, readonly [number, number]>();
  const names = new Map<string, string>();
  for (const [, value, name, least, largest] of found.matchAll(SYMBOLIC_INT)) {
    names.set(value!, name!);
    const most = Number(largest);
    if (least !== undefined) ranges.set(name!, [Number(least), most < UNLIMITED ? most : Infinity]);
  }
  const aliases = new Map(
    linesWith(bufferOf(text).subarray(0, ALIASES), 'affine_map<()').flatMap((line) => {
      const [, alias, map] = /^(#\w+) = (affine_map<.*>)$/.exec(line) ?? [];
      return alias === undefined ? [] : [[alias, map!] as const];
    }),
  );
  const bound = new Map<number, readonly Extent[]>();
  for (const [, argument, operands, given] of found.matchAll(BOUND)) {
    const map = resultsOfMap(aliases.get(given!) ?? given!);
    if (map === null) continue;
    const values = operands === '' ? [] : operands!.split(', ').map((value) => names.get(value) ?? null);
    const extents = map.results.map((result) =>
      substituted(result, (name) => values[map.names.indexOf(name)] ?? null),
    );
    if (!extents.includes(null)) bound.set(Number(argument), extents as Extent[]);
  }
  return { ranges, bound };
}

const MOST_LINES = 10_000;

/** Longest line that is read, in bytes. */
const LONGEST_LINE = 4096;

function linesWith(text: Buffer, word: string): string[] {
  const lines: string[] = [];
  for (let at = text.indexOf(word); at >= 0 && lines.length < MOST_LINES; at = text.indexOf(word, at + 1)) {
    const begin = text.lastIndexOf('\n', at) + 1;
    const end = text.indexOf('\n', at);
    const close = end < 0 ? text.length : end;
    if (close - begin <= LONGEST_LINE) lines.push(text.toString('utf8', begin, close).trim());
  }
  return lines;
}
