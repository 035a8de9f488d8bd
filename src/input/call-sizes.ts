// The calls of a function with dynamic dimensions: the sizes that the user asks for, and one size that no tile divides. Pure.
import { sizeName, sizesByKind, type SizeSet, type WantedSizes } from '../settings/wanted-sizes.ts';
import { combinations } from '../workload/sizes.ts';
import { placeOf, type DynamicDimensions, type DynamicSize } from './dynamic-dimensions.ts';
import { evaluated } from './extent.ts';

/** The sizes of one call. */
export interface CallSizes {
  /** Such as `4x128` with the batch first, or `batch=4 seq=128`. */
  readonly text: string;
  /** The shape of each argument; null for an argument that is no tensor. */
  readonly shapes: readonly (readonly number[] | null)[];
  /** Whether the sizes belong to names of the program, not to letters of a matmul. */
  readonly isNamed: boolean;
  /** Whether the call is added to the user's: it checks results at a size that no tile divides. */
  readonly isExtra: boolean;
}

/** Each comparison and each timing of a program runs every call. */
const MOST_CALLS = 16;

/** The sizes of a function's dynamic dimensions, by their names. */
type Sizes = ReadonlyMap<string, number>;

/**
 * The calls of a function at the user's sizes.
 * @returns no calls for a function without dynamic dimensions; the reason if its calls have no sizes
 */
export function callsOf(
  name: string,
  dimensions: DynamicDimensions,
  wanted: WantedSizes,
): readonly CallSizes[] | { readonly problem: string } {
  if (dimensions.sizes.length === 0) return [];
  const given = wanted.map((set) => ({ set, ...givenIn(set, name, dimensions.sizes) }));
  const isNamed = given.some(({ byName }) => byName.size > 0);
  const calls = isNamed ? namedCalls(given, dimensions) : lengthCalls(wanted, dimensions);
  if ('problem' in calls) return calls;
  return calls.length > MOST_CALLS
    ? { problem: `--iree-tuned-dim gives it ${calls.length} combinations of sizes, of ${MOST_CALLS} at most` }
    : calls;
}

/** The sizes that a set gives to the names of a function, and the names without one. */
function givenIn(set: SizeSet, name: string, sizes: readonly DynamicSize[]) {
  const byName = new Map<string, readonly number[]>();
  const missing: string[] = [];
  for (const size of sizes) {
    const spellings = [size.name, ...size.places];
    // A size for one function precedes one for all.
    const found =
      set.find((one) => spellings.some((own) => one.name === `${name}.${own}`)) ??
      set.find((one) => spellings.some((own) => one.name === sizeName(own)));
    if (found === undefined) missing.push(size.name);
    else byName.set(size.name, found.sizes);
  }
  return { byName, missing };
}

function namedCalls(
  given: readonly ReturnType<typeof givenIn>[],
  dimensions: DynamicDimensions,
): CallSizes[] | { readonly problem: string } {
  const complete = given.filter(({ byName, missing }) => byName.size > 0 && missing.length === 0);
  const last = complete.at(-1);
  if (last === undefined) {
    const { missing } = given.find(({ byName }) => byName.size > 0)!;
    return unsized(missing);
  }
  const all = complete.flatMap(({ byName }) => {
    const lists = [...byName].map(([name, sizes]) => sizes.map((size) => [name, size] as const));
    return combinations(lists).map((one): Sizes => new Map(one));
  });
  const [longest] = [...last.byName].sort(([, a], [, b]) => b.at(-1)! - a.at(-1)!);
  const largest = new Map([...last.byName].map(([name, sizes]) => [name, sizes.at(-1)!]));
  const extra = new Map([...largest, [longest![0], primeBelow(longest![1].at(-1)!)]]);
  const textOf = (sizes: Sizes) => [...sizes].map(([name, size]) => `${name}=${size}`).join(' ');
  const texts = new Map(all.map((sizes) => [textOf(sizes), sizes]));
  const isExtra = !texts.has(textOf(extra));
  return [
    ...[...texts].map(([text, sizes]) => callAt(dimensions, text, (name) => sizes.get(name) ?? null)),
    ...(isExtra ? [callAt(dimensions, textOf(extra), (name) => extra.get(name) ?? null, true)] : []),
  ].filter((call) => call !== null);
}

/** Calls by the letters of a matmul: a batch for the first dimension of each argument, and a length for all others. */
function lengthCalls(
  wanted: WantedSizes,
  dimensions: DynamicDimensions,
): CallSizes[] | { readonly problem: string } {
  const kinds = sizesByKind(wanted);
  const lengths = kinds.m ?? kinds.n ?? kinds.k ?? kinds.batch;
  if (lengths === undefined) return unsized(dimensions.sizes.map(({ name }) => name));
  const places = dimensions.extents.map((shape, i) =>
    (shape ?? []).flatMap((extent, d) => (typeof extent === 'number' ? [] : [placeOf(i, d)])),
  );
  const batches = places.some((own) => own.length > 1) ? kinds.batch : undefined;
  const callWith = (batch: number, length: number, isExtra: boolean): CallSizes => ({
    text: batch === length ? String(length) : `${batch}x${length}`,
    shapes: dimensions.extents.map(
      (shape) =>
        shape?.map((extent, d) => (typeof extent === 'number' ? extent : d === 0 ? batch : length)) ?? null,
    ),
    ...{ isNamed: false, isExtra },
  });
  const extra = primeBelow(lengths.at(-1)!);
  return [
    ...(batches ?? [null]).flatMap((batch) =>
      lengths.map((length) => callWith(batch ?? length, length, false)),
    ),
    ...(lengths.includes(extra) ? [] : [callWith(batches?.at(-1) ?? extra, extra, true)]),
  ];
}

/** A call at these sizes; null if they give a dimension no size. */
function callAt(
  { extents }: DynamicDimensions,
  text: string,
  sizeOf: (name: string) => number | null,
  isExtra = false,
): CallSizes | null {
  const shapes = extents.map((shape) => shape?.map((extent) => evaluated(extent, sizeOf)) ?? null);
  if (shapes.some((shape) => shape?.includes(null))) return null;
  return { text, shapes: shapes as CallSizes['shapes'], isNamed: true, isExtra };
}

const unsized = (names: readonly string[]) => ({
  problem: `its sizes are dynamic, and --iree-tuned-dim gives none for ${names.join(', ')}`,
});

/** The largest prime below a size, at least 3. */
function primeBelow(size: number): number {
  const isPrime = (n: number) => {
    for (let factor = 2; factor * factor <= n; factor++) if (n % factor === 0) return false;
    return true;
  };
  for (let n = size - 1; n > 3; n--) if (isPrime(n)) return n;
  return 3;
}
