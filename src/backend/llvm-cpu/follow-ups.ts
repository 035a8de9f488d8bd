// If data tiling is among the best, the search also tries tiles of packed operations.
import { parse } from 'mlir-parser-ts';
import { isDynamic, type OperationWork } from '../../workload/workload.ts';
import type { Measured, SpaceOptions, TextAfter } from '../backend.ts';
import { DATA_TILE_CONFIGURATION, type DataTileConfiguration, type PackedForm } from './configuration.ts';
import { packedConfigurations, packedFormOf } from './packed-configurations.ts';
import { PACKED_PHASE } from './packed-rules.ts';

/** Data tiling that takes more than this many times as long as the best does not become the best by its tiles. */
const COMPETITIVE = 1.4;

/** More configurations of data tiling, from the measurements so far. */
export async function packedFollowUps(
  workload: OperationWork,
  measured: readonly Measured[],
  { threads, following }: Pick<SpaceOptions, 'threads' | 'following'>,
  textAfter: TextAfter,
): Promise<readonly DataTileConfiguration[]> {
  if (!following || isDynamic(workload)) return [];
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
