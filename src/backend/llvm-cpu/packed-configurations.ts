// Tiles of packed operations. The compiler's own tiles ignore the caches and prime dimensions.
import type { OperationWork } from '../../workload/workload.ts';
import type { DataTileConfiguration, PackedForm, PackedTiles } from './configuration.ts';
import { packedShapes } from './packed-form.ts';

/** Blocks that keep the packed rows of one side in a cache while the other side streams. */
const DISTRIBUTIONS = [
  [4, 8],
  [8, 8],
  [16, 8],
  [32, 8],
] as const;

/** Long contiguous writes, also for dimensions without such divisors. */
const PACKING = [16, 64] as const;

/**
 * A few configurations, because each compiles in a module of its own.
 * @param threads of the program; a distribution has work for all threads
 */
export function packedConfigurations(
  workload: OperationWork,
  form: PackedForm,
  threads: number,
): DataTileConfiguration[] {
  const shapes = packedShapes(workload, form);
  if (shapes === null) return [];
  const [rows, columns] = [shapes[0][0]!, shapes[1][0]!];
  const distributions = DISTRIBUTIONS.map(
    ([first, second]) => [Math.min(first, rows), Math.min(second, columns)] as const,
  ).filter(([first, second]) => Math.ceil(rows / first) * Math.ceil(columns / second) >= threads);
  const packed: PackedTiles[] = [
    { ...form, packing: PACKING },
    ...distributions.flatMap((distribution) => [
      { ...form, distribution },
      { ...form, distribution, packing: PACKING },
    ]),
  ];
  const distinct = new Map(packed.map((tiles) => [JSON.stringify(tiles), tiles]));
  return [...distinct.values()].map((tiles) => ({ version: 1, kind: 'data-tile', packed: tiles }));
}
