// Which workloads are tuned, and with what kinds of configurations.
import { isDynamic, isOperationWork, type OperationWork, type Workload } from '../../workload/workload.ts';
import type { SpaceOptions } from '../backend.ts';
import type { VulkanConfiguration } from './configuration.ts';

/** Whether a workload is tuned: tiles divide, so that sizes have to be known. */
export const isTuned = (workload: Workload): workload is OperationWork =>
  isOperationWork(workload) && !isDynamic(workload);

/** Families of a workload, sorted; none where a user allows some values only. */
export const familiesOf = (
  workload: Workload,
  { only }: Pick<SpaceOptions, 'only'>,
): readonly VulkanConfiguration['kind'][] => (only === undefined && isTuned(workload) ? ['spirv-tile'] : []);
