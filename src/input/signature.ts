// The public functions of a program with the types of their arguments and results.
import { functions, type PublicFunction } from 'mlir-parser-ts';
import type { TunedSizes } from '../workload/sizes.ts';
import { atCallSizes, callSizes, callText, type CallSizes } from './call-sizes.ts';
import { tensorText, resultElementType, type Convert, type RuntimeType } from './runtime-type.ts';

/** A function that iree-run-module can call, at the sizes of one call. */
export interface ProgramFunction {
  readonly name: string;
  /** Sizes of its dynamic dimensions; null where it has none, or none are wanted. */
  readonly call: CallSizes | null;
  readonly arguments: readonly RuntimeType[];
  /** The element type of each result, in `decodeElements`' spelling where it has one. */
  readonly results: readonly string[];
  /** Why it cannot be called with made-up inputs, or its results not be looked at; then `arguments` is not complete. */
  readonly unsupported: string | null;
}

/**
 * The public functions with a body of a program in MLIR text, in their order. Never throws, whatever the bytes; what is
 * not understood is not there, or is there with the reason.
 * @param convert what the compile makes of an element type; the runtime wants what comes out
 * @param sizes for dynamic dimensions: a function that has some is there once for each call
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
 * The same from what `iree-dump-module` prints: every function that has an `iree.abi.declaration`, which those of the
 * torch dialect have not. All conversions are done there.
 */
export function declaredSignature(dump: string, sizes: TunedSizes = {}): ProgramFunction[] {
  return [...dump.matchAll(/\biree\.abi\.declaration: (?:\w+ )?func (@.*)/g)].flatMap(([, head]) =>
    programSignature(Buffer.from(`func.func ${head!} {}`), (elementType) => elementType, sizes),
  );
}

/** The function as it is called, for a reader. */
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
    const found = tensorText(call === null ? type : atCallSizes(type, call), convert);
    if ('unsupported' in found) unsupported ??= found.unsupported;
    else supported.push(found);
  }
  return {
    name,
    call,
    arguments: supported,
    results: results.map((type) => resultElementType(type, convert)),
    unsupported,
  };
}
