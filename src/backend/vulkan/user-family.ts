// The configurations of `BaseVectorize` by a user's knobs. Pure.
import type { OperationWork } from '../../workload/workload.ts';
import { matmulLevel, rolesOf, stepsOf } from '../gpu/roles.ts';
import type { GpuTarget } from '../gpu/target.ts';
import { divisors } from '../gpu/tiles.ts';
import { familyOf, NOT_WHOLE, type UserFamily } from '../gpu/user-space.ts';
import { isOfSchema } from '../schema.ts';
import { SCHEMA, type SpirvTileConfiguration } from './configuration.ts';
import { illegality } from './legality.ts';

export function userFamily(workload: OperationWork, target: GpuTarget): UserFamily {
  const { dimensions } = workload;
  // Users restrict the knobs of matmuls only, which have roles.
  const roles = rolesOf(workload)!;
  const { row: m, column: n, depth: k } = roles;
  const dividing = (d: number, most: number) => divisors(dimensions[d]!.size, most);
  const level = (rows: number, columns: number) => matmulLevel({ workload, roles }, rows, columns);
  const workgroup = (d: number, most: number) => ({
    values: dividing(d, most),
    of: (c: SpirvTileConfiguration) => c.workgroup[d]!,
  });
  const threads = (d: number, most: number) => ({
    values: dividing(d, most),
    of: (c: SpirvTileConfiguration) => c.workgroup[d]! / c.thread[d]!,
    isInner: true,
  });
  return familyOf({
    kind: 'spirv-tile',
    knobs: {
      ...{ workgroup_m: workgroup(m, 128), workgroup_n: workgroup(n, 512) },
      summed_k: { values: dividing(k, 32), of: ({ reduction }) => reduction[k]! },
      ...{ threads_m: threads(m, 64), threads_n: threads(n, 256) },
    },
    at({ workgroup_m, workgroup_n, summed_k, threads_m, threads_n }) {
      const c: SpirvTileConfiguration = {
        ...{ version: 1, kind: 'spirv-tile', workgroup: level(workgroup_m, workgroup_n) },
        thread: level(workgroup_m / threads_m, workgroup_n / threads_n),
        reduction: stepsOf({ workload, roles }, summed_k),
      };
      return illegality(workload, c, target) ?? (isOfSchema(SCHEMA, c) ? c : NOT_WHOLE);
    },
  });
}
