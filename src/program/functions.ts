// The functions of a program, from its text or from the compiled module.
import { isBytecode } from 'mlir-parser-ts';
import { runTool } from '../measure/toolchain.ts';
import type { Convert } from '../workload/kind.ts';
import type { WantedSizes } from '../settings/wanted-sizes.ts';
import { declaredSignature, programSignature, type ProgramFunction } from '../input/signature.ts';

/**
 * The public functions of an input. The parser cannot read bytecode, so its functions come from the declarations in the compiled module.
 * @param convert maps an element type to the compiled program's type
 * @param sizes for dynamic dimensions
 * @param compiled returns the paths of the module compiled from the input, and of `iree-dump-module`; called for bytecode only
 * @throws the errors of `compiled`
 */
export async function functionsOf(
  input: Uint8Array,
  convert: Convert,
  sizes: WantedSizes,
  compiled: () => Promise<{ readonly module: string; readonly dumpModule: string }>,
): Promise<ProgramFunction[]> {
  if (!isBytecode(input)) return programSignature(input, convert, sizes);
  const { module, dumpModule } = await compiled();
  const { stdout } = await runTool(dumpModule, [module], 60, new AbortController().signal);
  return declaredSignature(stdout, sizes);
}
