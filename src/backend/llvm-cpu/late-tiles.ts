// Tiles of packed operations, written into the compiler's own text. Packed operations exist only after the global optimisation. The packed
// operations of all candidates look alike, so that no spec can tell them apart.
import type { Configuration } from '../configuration.ts';
import { packedInfo } from './render.ts';

/** The compiler's phase after which operations are packed. */
export const PACKED_PHASE = 'global-optimization';

export const hasPackedTiles = (configuration: Configuration): boolean =>
  configuration.kind === 'data-tile' && configuration.packed !== undefined;

/** A line of optimised text with tiles on its packed operation. The line's function has an operation with the configuration. */
export function withPackedTiles(line: string, configuration: Configuration): string {
  if (configuration.kind !== 'data-tile' || configuration.packed === undefined) return line;
  const { multiply, pack } = packedInfo(configuration.packed);
  let annotated = line;
  if (multiply !== null)
    annotated = annotated.replace(/= linalg\.mmt4d (?=ins)/, `$&{compilation_info = ${multiply}} `);
  if (pack !== null)
    annotated = annotated.replace(/= linalg\.pack .* into %[\w#]+/, `$& {compilation_info = ${pack}}`);
  return annotated;
}
