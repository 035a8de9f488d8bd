// The parameters of a program: weights in parameter files.
import { bufferOf } from '../system/bytes.ts';
import { sizesBefore } from '../workload/tensor.ts';
import type { RuntimeType } from './runtime-type.ts';

/** A parameter, by the names in the program. */
export interface Parameter extends RuntimeType {
  readonly shape: readonly number[];
  /** Scope of the parameter file; null for the file without a name. */
  readonly scope: string | null;
  readonly key: string;
}

const NAMED = 'parameter.named<';

/** `parameter.named<"scope"::"key"> : tensor<4x8xf32>`, the scope being optional. */
const PARAMETER = /^parameter\.named<(?:"([^"\\]*)"::)?"([^"\\]*)"> : tensor<((?:\d+x)*)([a-z]\w*)>/;

/** Longest parameter that is read, in characters. */
const LONGEST = 4096;

/**
 * The parameters of a program in MLIR text or bytecode, which has these attributes as text, too. Each once; null if a parameter is not
 * understood. Never throws.
 */
export function parametersOf(input: Uint8Array): Parameter[] | null {
  const text = bufferOf(input);
  const found = new Map<string, Parameter>();
  for (let at = text.indexOf(NAMED); at >= 0; at = text.indexOf(NAMED, at + 1)) {
    const match = PARAMETER.exec(text.toString('utf8', at, at + LONGEST));
    if (match === null) return null;
    const [, scope, key, sizes, elementType] = match as unknown as [
      string,
      string | undefined,
      string,
      string,
      string,
    ];
    const shape = sizesBefore(sizes);
    found.set(JSON.stringify([scope, key]), { scope: scope ?? null, key, shape, elementType });
  }
  return [...found.values()];
}
