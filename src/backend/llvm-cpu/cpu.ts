// The CPU as a device of IREE's runtime.
import {
  cacheSizesKiB,
  cpuModel,
  cpuNumbers,
  physicalCores,
  sharedCaches,
  threadsPerCore,
} from '../../system/processor.ts';
import type { Device, Processor } from '../device.ts';

/** This machine as seen by a runtime driver. */
export function describeDevice(driver: string): Device {
  let processor: Processor | null | undefined;
  return {
    model: cpuModel(),
    driver,
    threads: driver === 'local-sync' ? 1 : physicalCores(),
    cachesKiB: cacheSizesKiB(),
    // Half a millisecond of asking the system, for which a hit has no use.
    get processor() {
      processor ??= describeProcessor();
      return processor ?? undefined;
    },
  };
}

function describeProcessor(): Processor | null {
  const numbers = cpuNumbers();
  if (numbers === null) return null;
  return {
    architecture: process.arch,
    ...numbers,
    threadsPerCore: threadsPerCore(),
    caches: sharedCaches(),
  };
}

/** Flags that make IREE's runtime tools use exactly this device. */
export function deviceFlags(device: Device): string[] {
  const flags = [`--device=${device.driver}`];
  if (device.driver === 'local-task') flags.push(`--task_topology_max_group_count=${device.threads}`);
  return flags;
}
