// Data tiling beyond yes or no: what the compiler packs an operation into it also tiles, and not always well. Its rule
// knows neither the cache nor a dimension that is prime.
import type { OperationWork } from '../../workload/workload.ts';
import type { DataTileConfiguration, PackedForm, PackedTiles } from './configuration.ts';
import { packedShapes } from './packed-form.ts';

/** Blocks that keep one side's packed rows in a cache while the other side's stream by. */
const DISTRIBUTIONS = [
  [4, 8],
  [8, 8],
  [16, 8],
  [32, 8],
] as const;

/** Long runs to write, whatever divides the dimensions. */
const PACKING = [16, 64] as const;

/**
 * Configurations worth trying where data tiling is among the best: few, because each is compiled for its own.
 * @param threads that the program will run on: a distribution leaves work for all of them
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
