// The functions of a program, wherever they can be read from.
import { isBytecode } from 'mlir-parser-ts';
import { runTool } from '../measure/toolchain.ts';
import type { Convert } from '../workload/kind.ts';
import type { TunedSizes } from '../workload/sizes.ts';
import { declaredSignature, programSignature, type ProgramFunction } from '../input/signature.ts';

/**
 * The public functions of an input. Bytecode does not say what functions it has; the compiled module does, as far as
 * they are declared in it.
 * @param convert what the compile makes of an element type
 * @param sizes for dynamic dimensions
 * @param compiled the module made from the input, and `iree-dump-module`
 */
export async function functionsOf(
  input: Uint8Array,
  convert: Convert,
  sizes: TunedSizes,
  compiled: { readonly module: string; readonly dumpModule: string },
): Promise<ProgramFunction[]> {
  if (!isBytecode(input)) return programSignature(input, convert, sizes);
  const { stdout } = await runTool(compiled.dumpModule, [compiled.module], 60, new AbortController().signal);
  return declaredSignature(stdout, sizes);
}
