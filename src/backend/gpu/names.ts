// The knobs of GPU configurations in tables.
import type { Workload } from '../../workload/workload.ts';
import type { KnobColumns } from '../backend.ts';
import { threadsOf, type GpuConfiguration } from './configuration.ts';

/** Elements of one thread; with matrix instructions, instructions of one subgroup. */
const innerOf = (c: GpuConfiguration): readonly number[] => (c.kind === 'mma-tile' ? c.subgroup : c.thread);

/** Columns for each dimension of the workload, by kind and number, and common columns. */
export function knobValues({ dimensions }: Workload, c: GpuConfiguration): KnobColumns {
  const inner = innerOf(c);
  const columns = dimensions.flatMap(({ kind }, d) =>
    kind === 'k'
      ? [[`summed_${kind}${d}`, c.reduction[d]!]]
      : [
          [`workgroup_${kind}${d}`, c.workgroup[d]!],
          [`tile_${kind}${d}`, inner[d]!],
        ],
  );
  return Object.fromEntries([
    ...columns,
    ['threads', threadsOf(c)],
    ['matrix', c.kind === 'mma-tile'],
    ['padded', c.kind !== 'shared-sum' && c.padded],
  ]) as KnobColumns;
}
