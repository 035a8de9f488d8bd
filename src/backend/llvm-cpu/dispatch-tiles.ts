// Tiles of a dispatch on its operations: each operation gets the tiles of its loops' dimensions.
import {
  readConfigured,
  withLevels,
  type ConfiguredPart,
  type Levels,
} from '../../workload/dispatch/configured.ts';
import { multipliedAlong, type DispatchWork } from '../../workload/dispatch/dispatch-work.ts';
import { isShapedLike } from '../../workload/dispatch/from-configured.ts';
import type { OwnConfiguration } from '../configuration.ts';
import type { DispatchTileConfiguration } from './configuration.ts';

/** The text of a configured executable with these tiles; null for another dispatch. */
export function reconfigured(
  text: string,
  workload: DispatchWork,
  configuration: OwnConfiguration,
): string | null {
  if (configuration.kind !== 'dispatch-tile') return null;
  // The results would be wrong, even if a record says otherwise.
  if (isInSteps(workload, configuration)) return null;
  const found = readConfigured(text);
  return found === null || !isShapedLike(found, workload)
    ? null
    : withLevels(text, found, (part) => levelsOf(part, configuration));
}

/** Whether the product of queries and keys has steps: the compiler then computes wrong weights from partial products. */
function isInSteps({ parts, dimensions }: DispatchWork, { vector }: DispatchTileConfiguration): boolean {
  const d = multipliedAlong(parts);
  return d !== null && vector[d] !== 0 && vector[d] !== dimensions[d]!.size;
}

/** The compiler's tiling levels of an operation with other tiles. Cache levels go, because they fit the compiler's tiles only. */
function levelsOf(
  { loops, reduced, levels }: ConfiguredPart,
  { distribution, vector }: DispatchTileConfiguration,
): Levels {
  const own = new Map<string, readonly number[]>();
  const inner = levels.get('vector_inner_parallel') ?? [];
  /** A parallel loop is tiled in the common level of all operations, or in the inner level. */
  const isInner = (loop: number) => (inner[loop] ?? 0) > 0;
  for (const [name, tiles] of levels) {
    if (name === 'cache_parallel' || name === 'cache_reduction') continue;
    own.set(
      name,
      tiles.map((_, loop) => {
        const dimension = loops[loop]!;
        const isReduced = reduced.includes(loop);
        if (name === 'distribution') return isReduced ? 0 : distribution[dimension]!;
        if (name === 'vector_reduction') return isReduced ? vector[dimension]! : 0;
        if (isReduced) return 0;
        return isInner(loop) === (name === 'vector_inner_parallel') ? vector[dimension]! : 0;
      }),
    );
  }
  return own;
}
