// The sizes of an operation's dynamic dimensions in the calls of its program.
import { functions } from 'mlir-parser-ts';
import { sizesByKind, type WantedSizes } from '../settings/wanted-sizes.ts';
import { ascending, KIND_ORDER, type DimensionKind, type TunedSizes } from '../workload/sizes.ts';
import { callsOf, type CallSizes } from './call-sizes.ts';
import type { DispatchExtents } from './dispatch-extents.ts';
import { dynamicDimensions, type DynamicDimensions } from './dynamic-dimensions.ts';
import { evaluated } from './extent.ts';

/** A function with dynamic dimensions, and its calls. */
export interface DynamicFunction {
  readonly name: string;
  readonly dimensions: DynamicDimensions;
  /** The calls at the user's sizes. Empty without sizes for them. */
  readonly calls: readonly CallSizes[];
}

/** A build asks about its text several times, and reading 6 MB of text takes 0.1 s. */
const latest = new WeakMap<
  Uint8Array,
  { readonly wanted: WantedSizes; readonly program: readonly DynamicFunction[] }
>();

/** The public functions of a text with dynamic dimensions. */
export function dynamicFunctions(text: Uint8Array, wanted: WantedSizes): readonly DynamicFunction[] {
  const before = latest.get(text);
  if (before?.wanted === wanted) return before.program;
  const program = functions(text).flatMap((found) => {
    const dimensions = dynamicDimensions(found, text);
    if (dimensions.sizes.length === 0) return [];
    const calls = callsOf(found.name, dimensions, wanted);
    return [{ name: found.name, dimensions, calls: 'problem' in calls ? [] : calls }];
  });
  latest.set(text, { wanted, program });
  return program;
}

/** Whether the user gives sizes to names of the program. */
export const isNamed = ({ calls }: DynamicFunction): boolean => calls.some((call) => call.isNamed);

/** Most sizes of a kind of dimension; two if three kinds are dynamic. A candidate runs at each combination of sizes. */
const MOST_SIZES = 4;

/**
 * The sizes at which an operation is tuned. Names of the program give each kind of dimension the sizes that it has in the calls, or all
 * sizes if these are not known. Otherwise the letters of a matmul give them.
 */
export function sizesAtCalls(
  extents: readonly DispatchExtents[] | undefined,
  program: readonly DynamicFunction[],
  wanted: WantedSizes,
): TunedSizes {
  if (!program.some(isNamed)) return sizesByKind(wanted);
  const byKind = new Map<DimensionKind, number[]>();
  const called = (extents ?? []).flatMap((one) => {
    const { calls = [] } = program.find(({ name }) => name === one.function) ?? {};
    const own = calls.filter(({ isExtra }) => !isExtra);
    return own.length === 0 ? [] : [{ ...one, calls: own }];
  });
  for (const { kind, extents: own, calls } of called) {
    const sizes = own.flatMap((extent) =>
      calls.map((call) => evaluated(extent, (place) => sizeAt(call, place))),
    );
    const known = sizes.filter((size) => size !== null && size > 0) as number[];
    if (known.length < sizes.length) return everySize(wanted);
    byKind.set(kind, [...(byKind.get(kind) ?? []), ...known]);
  }
  if (byKind.size === 0) return everySize(wanted);
  const most = byKind.size > 2 ? 2 : MOST_SIZES;
  return Object.fromEntries([...byKind].map(([kind, sizes]) => [kind, few(sizes, most)]));
}

/** The size at a place such as `arg0.1`. */
function sizeAt({ shapes }: CallSizes, place: string): number | null {
  const [, argument, dimension] = /^arg(\d+)\.(\d+)$/.exec(place) ?? [];
  return shapes[Number(argument)]?.[Number(dimension)] ?? null;
}

const everySize = (wanted: WantedSizes): TunedSizes => {
  const sizes = few(
    wanted.flat().flatMap((one) => one.sizes),
    2,
  );
  return Object.fromEntries(KIND_ORDER.map((kind) => [kind, sizes]));
};

/** The sizes, or the smallest and the largest one if there are more than `most`. */
function few(sizes: readonly number[], most: number): number[] {
  const all = ascending(sizes);
  return all.length <= most ? all : [all[0]!, all.at(-1)!];
}
