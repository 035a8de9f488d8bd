// Names of GPU configurations in profilers and tables.
import type { Workload } from '../../workload/workload.ts';
import type { ConfigurationNames, KnobColumns } from '../backend.ts';
import { stepOf, threadsOf, type GpuConfiguration } from './configuration.ts';

/** Elements of one thread; with matrix instructions, instructions of one subgroup. */
const innerOf = (c: GpuConfiguration): readonly number[] => (c.kind === 'mma-tile' ? c.subgroup : c.thread);

/** Tiles along m, n and k: products over all dimensions of a kind. */
export function namesOf({ dimensions }: Workload, c: GpuConfiguration): ConfigurationNames {
  const along = (wanted: string, tiles: readonly number[]) =>
    dimensions.reduce((all, { kind }, d) => (kind === wanted ? all * (tiles[d] || 1) : all), 1);
  const inner = innerOf(c);
  return {
    tiles: [along('m', c.workgroup), along('n', c.workgroup), along('k', c.reduction) * stepOf(c)].join('x'),
    vectors: [along('m', inner), along('n', inner), along('k', inner)].join('x'),
    core: c.kind === 'mma-tile' ? 'tensor' : 'simt',
    instruction: c.kind === 'mma-tile' ? c.mma : c.kind,
  };
}

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
