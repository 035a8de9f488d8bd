// The calls of a function with dynamic dimensions: the sizes that the user asks for, and one size that no tile divides. Pure.
import {
  sizeName,
  sizesByKind,
  type NamedSizes,
  type SizeSet,
  type WantedSizes,
} from '../settings/wanted-sizes.ts';
import { combinations } from '../workload/sizes.ts';
import { placeOf, type DynamicDimensions, type DynamicSize } from './dynamic-dimensions.ts';
import { evaluated } from './extent.ts';

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
  const calls = isNamed ? namedCalls(name, given, dimensions) : lengthCalls(wanted, dimensions);
  if ('problem' in calls) return calls;
  return calls.length > MOST_CALLS
    ? { problem: `--iree-tuned-dim gives it ${calls.length} combinations of sizes, of ${MOST_CALLS} at most` }
    : calls;
}

/** The sizes that a set gives to a function, by their names. Names with the same entry of the set are equal in each call. */
function givenIn(set: SizeSet, name: string, sizes: readonly DynamicSize[]) {
  const byName = new Map<string, NamedSizes>();
  const missing: string[] = [];
  for (const size of sizes) {
    const spellings = spellingsOf(size);
    // A size for one function precedes one for all.
    const inOrder = [...spellings.map((own) => `${name}.${own}`), ...spellings.map(sizeName)];
    const found = inOrder.map((own) => set.find((one) => one.name === own)).find((one) => one !== undefined);
    if (found === undefined) missing.push(size.name);
    else byName.set(size.name, found);
  }
  return { byName, missing };
}

/** How users may name a size. `arg*.0` is the first dimension of all arguments, which is one size in all of them. */
export const spellingsOf = ({ name, places }: DynamicSize): string[] => [
  ...new Set([name, ...places, ...places.map((place) => place.replace(/^arg\d+/, 'arg*'))]),
];

function namedCalls(
  called: string,
  given: readonly ReturnType<typeof givenIn>[],
  dimensions: DynamicDimensions,
): CallSizes[] | { readonly problem: string } {
  const complete = given.filter(({ byName, missing }) => byName.size > 0 && missing.length === 0);
  const last = complete.at(-1);
  if (last === undefined) {
    const { missing } = given.find(({ byName }) => byName.size > 0)!;
    return unsized(missing);
  }
  const calls = new Map<string, CallSizes | null>();
  const add = (byName: (typeof last)['byName'], chosen: ReadonlyMap<NamedSizes, number>, isExtra = false) => {
    const own = `${called}.`;
    const text = [...chosen]
      .map(([{ name }, size]) => `${name.startsWith(own) ? name.slice(own.length) : name}=${size}`)
      .join(' ');
    const sizeOf = (name: string) => chosen.get(byName.get(name)!) ?? null;
    if (!calls.has(text)) calls.set(text, callAt(dimensions, text, sizeOf, isExtra));
  };
  for (const { byName } of complete) {
    const lists = [...new Set(byName.values())].map((one) => one.sizes.map((size) => [one, size] as const));
    for (const chosen of combinations(lists)) add(byName, new Map(chosen));
  }
  const all = [...new Set(last.byName.values())];
  const longest = all.toSorted((a, b) => b.sizes.at(-1)! - a.sizes.at(-1)!)[0];
  const extra = all.map((one) => {
    const largest = one.sizes.at(-1)!;
    return [one, one === longest ? primeBelow(largest) : largest] as const;
  });
  add(last.byName, new Map(extra), true);
  return [...calls.values()].filter((call) => call !== null);
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
