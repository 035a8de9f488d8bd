// The knobs of GPU configurations in tables.
import type { Workload } from '../../workload/workload.ts';
import type { KnobColumns } from '../backend.ts';
import { threadsOf, type AttentionConfiguration, type GpuConfiguration } from './configuration.ts';

/** Columns for each dimension of a workload, by kind and number: steps of reductions, and the tiles of each level. */
export const tileColumns = (
  { dimensions }: Workload,
  reduction: readonly number[],
  levels: Readonly<Record<string, readonly number[]>>,
): KnobColumns =>
  Object.fromEntries(
    dimensions.flatMap(({ kind }, d) =>
      kind === 'k'
        ? [[`summed_${kind}${d}`, reduction[d]!]]
        : Object.entries(levels).map(([level, tiles]) => [`${level}_${kind}${d}`, tiles[d]!]),
    ),
  );

export const knobValues = (workload: Workload, c: GpuConfiguration): KnobColumns => ({
  // Elements of one thread; with matrix instructions, instructions of one subgroup.
  ...tileColumns(workload, c.reduction, {
    workgroup: c.workgroup,
    tile: c.kind === 'mma-tile' ? c.subgroup : c.thread,
  }),
  threads: threadsOf(c),
  matrix: c.kind === 'mma-tile',
  padded: c.kind !== 'shared-sum' && c.padded,
});

export const attentionKnobs = (workload: Workload, c: AttentionConfiguration): KnobColumns => ({
  ...tileColumns(workload, c.reduction, { workgroup: c.workgroup, subgroups: c.subgroups }),
  threads: threadsOf(c),
});
