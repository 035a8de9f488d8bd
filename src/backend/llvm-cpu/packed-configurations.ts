// Tiles of packed operations, which a search tries if data tiling is among the best. The compiler's own tiles ignore the caches and prime
// dimensions.
import { parse } from 'mlir-parser-ts';
import { isDynamic, isOperationWork, type OperationWork, type Workload } from '../../workload/workload.ts';
import type { Measured, SpaceOptions, TextAfter } from '../backend.ts';
import {
  DATA_TILE_CONFIGURATION,
  type DataTileConfiguration,
  type PackedForm,
  type PackedTiles,
} from './configuration.ts';
import { PACKED_PHASE } from './data-tiling.ts';

/** Shapes of the two operands of a packed operation: rows and k in tiles, then the size of one tile. */
export type PackedShapes = readonly [first: readonly number[], second: readonly number[]];

/** Packed shapes of a workload's operands; null for a workload without exactly one m, one n and one k. */
export function packedShapes(
  { dimensions }: OperationWork,
  { inner, swapped }: PackedForm,
): PackedShapes | null {
  if (dimensions.map(({ kind }) => kind).join() !== 'm,n,k') return null;
  const [m, n, k] = dimensions.map(({ size }) => size) as [number, number, number];
  const operand = (rows: number, tile: number) => [
    Math.ceil(rows / tile),
    Math.ceil(k / inner[2]),
    tile,
    inner[2],
  ];
  return [operand(swapped ? n : m, inner[0]), operand(swapped ? m : n, inner[1])];
}

/** The packed form with operands of these shapes; null for none. */
export function packedFormOf(workload: OperationWork, [first, second]: PackedShapes): PackedForm | null {
  if (first.length !== 4 || second.length !== 4 || first[3] !== second[3]) return null;
  const inner = [first[2]!, second[2]!, first[3]!] as const;
  const forms = [false, true].map((swapped): PackedForm => ({ inner, swapped }));
  return (
    forms.find((form) => {
      const shapes = packedShapes(workload, form);
      return shapes !== null && shapes[0].join() === first.join() && shapes[1].join() === second.join();
    }) ?? null
  );
}

/** Blocks that keep the packed rows of one side in a cache while the other side streams. */
const ROWS = [4, 8, 16, 32];
const COLUMNS = 8;

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
  const distributions = ROWS.map(
    (first) => [Math.min(first, rows), Math.min(COLUMNS, columns)] as const,
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

/** Data tiling that takes more than this many times as long as the best does not become the best by its tiles. */
const COMPETITIVE = 1.4;

/** More configurations of data tiling, from the measurements so far. */
export async function packedFollowUps(
  workload: Workload,
  measured: readonly Measured[],
  { threads, following }: Pick<SpaceOptions, 'threads' | 'following'>,
  textAfter: TextAfter,
): Promise<readonly DataTileConfiguration[]> {
  if (!following || !isOperationWork(workload) || isDynamic(workload)) return [];
  const best = Math.min(...measured.map(({ seconds }) => seconds));
  const plain = measured.find(({ configuration }) => configuration.kind === 'data-tile');
  if (plain === undefined || plain.seconds > best * COMPETITIVE) return [];
  const form = await findPackedForm(workload, textAfter);
  return form === null ? [] : packedConfigurations(workload, form, threads);
}

/** The packed form of a workload; null if the compiler does not pack it, or packs into a batch or several operations. */
export async function findPackedForm(
  workload: OperationWork,
  textAfter: TextAfter,
): Promise<PackedForm | null> {
  const text = await textAfter(DATA_TILE_CONFIGURATION, PACKED_PHASE);
  if (text === null) return null;
  const packed = parse(text).operations.filter(({ name }) => name === 'linalg.mmt4d');
  const [first, second] = (packed.length === 1 ? packed[0]!.operands : []).map(({ type }) =>
    type.kind === 'opaque' ? null : type.shape,
  );
  return first && second ? packedFormOf(workload, [first, second]) : null;
}
