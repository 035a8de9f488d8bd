// The public functions of a program, with the types of their arguments and results at the sizes of each call.
import { functions, type PublicFunction, type Type } from 'mlir-parser-ts';
import type { TunedSizes } from '../workload/sizes.ts';
import type { Convert } from '../workload/kind.ts';
import { runtimeResultOf, runtimeTypeOf, type ResultType, type RuntimeType } from './runtime-type.ts';

/** A function that iree-run-module can call, at the sizes of one call. */
export interface ProgramFunction {
  readonly name: string;
  /** Sizes of its dynamic dimensions; null without dynamic dimensions or without sizes. */
  readonly call: CallSizes | null;
  readonly arguments: readonly RuntimeType[];
  readonly results: readonly ResultType[];
  /** The reason why it cannot be called with random inputs or has no results to compare. Then `arguments` is incomplete. */
  readonly unsupported: string | null;
}

/**
 * The public functions with a body of a program in MLIR text, in order. Functions that are not understood are left out. Never
 * throws.
 * @param convert maps an element type of the input to the type in the compiled program
 * @param sizes for dynamic dimensions: a dynamic function has an entry for each call
 */
export const programSignature = (
  text: Uint8Array,
  convert: Convert,
  sizes: TunedSizes = {},
): ProgramFunction[] =>
  functions(text).flatMap((found) => {
    const calls = callSizes(found.arguments, sizes);
    return (calls ?? [null]).map((call) => describe(found, convert, call));
  });

/**
 * The functions with an `iree.abi.declaration` in the output of `iree-dump-module`. Functions of the torch dialect have none. The
 * types are converted already.
 */
export function declaredSignature(dump: string, sizes: TunedSizes = {}): ProgramFunction[] {
  return [...dump.matchAll(/\biree\.abi\.declaration: (?:\w+ )?func (@.*)/g)].flatMap(([, head]) =>
    programSignature(Buffer.from(`func.func ${head!} {}`), (elementType) => elementType, sizes),
  );
}

/** A readable name of a call. */
export const callName = ({ name, call }: Pick<ProgramFunction, 'name' | 'call'>): string =>
  call === null ? name : `${name} at ${callText(call)}`;

function describe(
  { name, arguments: types, results }: PublicFunction,
  convert: Convert,
  call: CallSizes | null,
): ProgramFunction {
  let unsupported = results.length === 0 ? 'it returns nothing that could be looked at' : null;
  const supported: RuntimeType[] = [];
  for (const type of types) {
    const found = runtimeTypeOf(atCallSizes(type, call), convert);
    if ('unsupported' in found) unsupported ??= found.unsupported;
    else supported.push(found);
  }
  return {
    name,
    call,
    arguments: supported,
    results: results.map((type) => runtimeResultOf(atCallSizes(type, call), convert)),
    unsupported,
  };
}

/** Sizes of the dynamic dimensions in one call. */
export interface CallSizes {
  /** Size of a dynamic first dimension. */
  readonly batch: number;
  /** Size of all other dynamic dimensions. */
  readonly length: number;
  /** Whether the call is added to the user's: it checks results at a size that no tile divides. */
  readonly isExtra: boolean;
}

/** Each comparison and each timing of a program runs every call. */
const MOST_CALLS = 16;

/**
 * The calls of a function at the user's sizes, and one call at a size that no tile divides.
 * @returns null for a function without dynamic dimensions, without sizes, and for too many calls
 */
function callSizes(types: readonly Type[], wanted: TunedSizes): CallSizes[] | null {
  const open = types.map((type) => shapeOf(type).filter((size) => size < 0).length);
  const most = Math.max(0, ...open);
  const lengths = wanted.m ?? wanted.n ?? wanted.k ?? wanted.batch;
  if (most === 0 || lengths === undefined) return null;
  const batches = most > 1 ? wanted.batch : undefined;
  if (lengths.length * (batches?.length ?? 1) >= MOST_CALLS) return null;
  const largest = lengths.at(-1)!;
  const extra = primeBelow(largest);
  return [
    ...(batches ?? [null]).flatMap((batch) =>
      lengths.map((length) => ({ batch: batch ?? length, length, isExtra: false })),
    ),
    ...(lengths.includes(extra) ? [] : [{ batch: batches?.at(-1) ?? extra, length: extra, isExtra: true }]),
  ];
}

/** The type with the sizes of a call for its dynamic dimensions. */
function atCallSizes(type: Type, call: CallSizes | null): Type {
  if (call === null || type.kind === 'opaque' || type.shape === null) return type;
  const { batch, length } = call;
  const shape = type.shape.map((size, i) => (size >= 0 ? size : i === 0 ? batch : length));
  return { ...type, shape };
}

/** The sizes as text, such as `4x128` with the batch first. */
const callText = ({ batch, length }: CallSizes): string =>
  batch === length ? String(length) : `${batch}x${length}`;

const shapeOf = (type: Type): readonly number[] => (type.kind === 'opaque' ? [] : (type.shape ?? []));

/** The largest prime below a size, at least 3. */
function primeBelow(size: number): number {
  const isPrime = (n: number) => {
    for (let factor = 2; factor * factor <= n; factor++) if (n % factor === 0) return false;
    return true;
  };
  for (let n = size - 1; n > 3; n--) if (isPrime(n)) return n;
  return 3;
}
