// The attribute that carries a configuration.
import type { Directive } from './backend.ts';

/** Both parts of a `compilation_info`, in the compiler's spelling. */
export interface Rendered {
  readonly lowering: string;
  readonly translation: string;
}

export const compilationInfo = ({ lowering, translation }: Rendered): Directive => ({
  attribute: 'compilation_info',
  value: `#iree_codegen.compilation_info<lowering_config = ${lowering}, translation_info = ${translation}>`,
});
