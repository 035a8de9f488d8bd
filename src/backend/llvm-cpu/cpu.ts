// The CPU as a device of IREE's runtime.
import { cacheSizesKiB, cpuModel, physicalCores } from '../../system/processor.ts';
import type { Device } from '../device.ts';

/** This machine as seen by a runtime driver. */
export const describeDevice = (driver: string): Device => ({
  model: cpuModel(),
  driver,
  threads: driver === 'local-sync' ? 1 : physicalCores(),
  cachesKiB: cacheSizesKiB(),
});

/** Flags that make IREE's runtime tools use exactly this device. */
export function deviceFlags(device: Device): string[] {
  const flags = [`--device=${device.driver}`];
  if (device.driver === 'local-task') flags.push(`--task_topology_max_group_count=${device.threads}`);
  return flags;
}
