// Where data tiling is among the best, the tiles of what it makes are worth trying too.
import { findPackedForm } from '../measure/packed.ts';
import type { Toolchain } from '../measure/toolchain.ts';
import type { DataTileConfiguration } from '../space/configuration.ts';
import { packedConfigurations } from '../space/packed.ts';
import type { Trial } from '../store/store.ts';
import { isDynamic, type Workload } from '../workload/workload.ts';

/** Data tiling that takes longer than this, next to the best, does not come to the front by its tiles. */
const COMPETITIVE = 1.3;

/** What else to try of data tiling, given the trials that were `measured`. */
export async function packedFollowUps(
  toolchain: Toolchain,
  workload: Workload,
  measured: readonly Trial[],
): Promise<readonly DataTileConfiguration[]> {
  if (isDynamic(workload)) return [];
  const best = Math.min(...measured.map((trial) => trial.seconds!));
  const plain = measured.find(({ configuration }) => configuration.kind === 'data-tile');
  if (plain === undefined || plain.seconds! > best * COMPETITIVE) return [];
  const form = await findPackedForm(toolchain, workload);
  return form === null ? [] : packedConfigurations(workload, form, toolchain.device.threads);
}
