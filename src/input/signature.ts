// The public functions of a program, with the types of their arguments and results at the sizes of each call.
import { functions, type PublicFunction, type Type } from 'mlir-parser-ts';
import type { WantedSizes } from '../settings/wanted-sizes.ts';
import type { Convert } from '../workload/kind.ts';
import { callsOf, type CallSizes } from './call-sizes.ts';
import { dynamicDimensions } from './dynamic-dimensions.ts';
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
  sizes: WantedSizes = [],
): ProgramFunction[] =>
  functions(text).flatMap((found) => {
    const calls = callsOf(found.name, dynamicDimensions(found, text), sizes);
    if ('problem' in calls) return [{ ...describe(found, convert, null), unsupported: calls.problem }];
    return (calls.length === 0 ? [null] : calls).map((call) => describe(found, convert, call));
  });

/**
 * The functions with an `iree.abi.declaration` in the output of `iree-dump-module`. Functions of the torch dialect have none. The
 * types are converted already.
 */
export function declaredSignature(dump: string, sizes: WantedSizes = []): ProgramFunction[] {
  return [...dump.matchAll(/\biree\.abi\.declaration: (?:\w+ )?func (@.*)/g)].flatMap(([, head]) =>
    programSignature(Buffer.from(`func.func ${head!} {}`), (elementType) => elementType, sizes),
  );
}

/** A readable name of a call. */
export const callName = ({ name, call }: Pick<ProgramFunction, 'name' | 'call'>): string =>
  call === null ? name : `${name} at ${call.text}`;

/** Whether a call only checks results: the user did not ask for its size. */
export const isExtraCall = ({ call }: Pick<ProgramFunction, 'call'>): boolean => call?.isExtra === true;

function describe(
  { name, arguments: types, results }: PublicFunction,
  convert: Convert,
  call: CallSizes | null,
): ProgramFunction {
  let unsupported = results.length === 0 ? 'it returns nothing that could be looked at' : null;
  const supported: RuntimeType[] = [];
  for (const [i, type] of types.entries()) {
    const found = runtimeTypeOf(withShape(type, call?.shapes[i]), convert);
    if ('unsupported' in found) unsupported ??= found.unsupported;
    else supported.push(found);
  }
  return {
    name,
    call,
    arguments: supported,
    results: results.map((type) => runtimeResultOf(type, convert)),
    unsupported,
  };
}

const withShape = (type: Type, shape: readonly number[] | null | undefined): Type =>
  !shape || type.kind === 'opaque' ? type : { ...type, shape };
