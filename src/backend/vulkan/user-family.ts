// The configurations of `BaseVectorize` by a user's knobs. Pure.
import type { OperationWork } from '../../workload/workload.ts';
import type { Configuration } from '../configuration.ts';
import { matmulLevel, rolesOf } from '../gpu/roles.ts';
import type { GpuTarget } from '../gpu/target.ts';
import { divisors } from '../gpu/tiles.ts';
import { NOT_WHOLE, type UserFamily } from '../gpu/user-space.ts';
import { isOfSchema } from '../schema.ts';
import type { SpirvTileConfiguration } from './configuration.ts';
import { illegality } from './legality.ts';
import { SCHEMA } from './schema.ts';

export function userFamily(workload: OperationWork, target: GpuTarget): UserFamily<never, Configuration> {
  const { dimensions } = workload;
  // Users restrict the knobs of matmuls only, which have roles.
  const roles = rolesOf(workload)!;
  const { row: m, column: n, depth: k } = roles;
  const dividing = (d: number, most: number) => divisors(dimensions[d]!.size, most);
  const level = (rows: number, columns: number) => matmulLevel({ workload, roles }, rows, columns);
  return {
    values: {
      ...{ workgroup_m: dividing(m, 128), workgroup_n: dividing(n, 512), summed_k: dividing(k, 32) },
      ...{ threads_m: dividing(m, 64), threads_n: dividing(n, 256) },
    },
    at({ workgroup_m, workgroup_n, summed_k, threads_m, threads_n }) {
      const c: SpirvTileConfiguration = {
        ...{ version: 1, kind: 'spirv-tile', workgroup: level(workgroup_m, workgroup_n) },
        thread: level(workgroup_m / threads_m, workgroup_n / threads_n),
        reduction: dimensions.map((_, d) => (d === k ? summed_k : 0)),
      };
      return illegality(workload, c, target) ?? (isOfSchema(SCHEMA, c) ? c : NOT_WHOLE);
    },
    choiceOf(c) {
      if (c.kind !== 'spirv-tile' || c.workgroup.length !== dimensions.length) return null;
      const threads = (d: number) => c.workgroup[d]! / c.thread[d]!;
      return {
        ...{ workgroup_m: c.workgroup[m]!, workgroup_n: c.workgroup[n]!, summed_k: c.reduction[k]! },
        ...{ threads_m: threads(m), threads_n: threads(n) },
      };
    },
  };
}
