// Tuned workloads, and the kinds of their configurations.
import { isDynamic, isOperationWork, type OperationWork, type Workload } from '../../workload/workload.ts';
import type { SpaceOptions } from '../backend.ts';
import type { VulkanConfiguration } from './configuration.ts';

/** Whether a workload is tuned. Tiles must divide static sizes. */
export const isTuned = (workload: Workload): workload is OperationWork =>
  isOperationWork(workload) && !isDynamic(workload);

/** Families of a workload, sorted; none if a user restricts knobs. */
export const familiesOf = (
  workload: Workload,
  { only }: Pick<SpaceOptions, 'only'>,
): readonly VulkanConfiguration['kind'][] => (only === undefined && isTuned(workload) ? ['spirv-tile'] : []);
