// Tuned workloads, and the kinds of their configurations.
import { isDynamic, isOperationWork, type OperationWork, type Workload } from '../../workload/workload.ts';
import type { SpaceOptions } from '../backend.ts';
import { SCHEMA } from './schema.ts';
import { productOf } from './shared-tiles.ts';

/** Whether a workload is tuned. Tiles must divide static sizes. SPIR-V of the compiler has no vectors of bf16 (3.13.0). */
export const isTuned = (workload: Workload): workload is OperationWork =>
  isOperationWork(workload) &&
  !isDynamic(workload) &&
  ![workload.lhs, workload.rhs].some(({ elementType }) => elementType === 'bf16');

/** Families of a workload, sorted; none if a user restricts knobs. The target decides about the real families. */
export const familiesOf = (workload: Workload, { only }: Pick<SpaceOptions, 'only'>): readonly string[] =>
  only !== undefined || !isTuned(workload)
    ? []
    : productOf(workload) === null
      ? ['spirv-tile']
      : Object.keys(SCHEMA.kinds);
