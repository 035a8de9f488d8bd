// The device: what a configuration is measured on.

export interface Device {
  /** CPU model as the system names it, with family and stepping where the name alone is not unique. */
  readonly model: string;
  /** Runtime driver: the value of the runtime's `--device=`. */
  readonly driver: string;
  /** Threads the program runs on. */
  readonly threads: number;
  /** Sizes in KiB of the data and unified caches of one core, from level 1 up. */
  readonly cachesKiB: readonly number[];
}

/** Readable canonical key. */
export function deviceKey(device: Device): string {
  const caches = device.cachesKiB.length === 0 ? '' : ` caches=${device.cachesKiB.join('/')}K`;
  return `${device.model} ${device.driver} threads=${device.threads}${caches}`;
}
