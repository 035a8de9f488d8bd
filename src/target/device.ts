// The device: what a configuration is measured on.
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';

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

/** Flags that make IREE's runtime tools use exactly this device. */
export function deviceFlags(device: Device): string[] {
  const flags = [`--device=${device.driver}`];
  if (device.driver === 'local-task') flags.push(`--task_topology_max_group_count=${device.threads}`);
  return flags;
}

/** This machine as seen by the runtime driver `driver`. */
export function describeDevice(driver: string): Device {
  return {
    model: cpuModel(),
    driver,
    threads: driver === 'local-sync' ? 1 : availableParallelism(),
    cachesKiB: cacheSizes(),
  };
}

function cpuModel(): string {
  try {
    // Cloud machines hide the model number in the name ("AMD EPYC"), so family, model and stepping are added.
    const text = readFileSync('/proc/cpuinfo', 'latin1').split('\n\n')[0] ?? '';
    const field = (name: string) => new RegExp(`^${name}\\s*: (.*)$`, 'm').exec(text)?.[1]?.trim();
    const name = field('model name') ?? field('Processor');
    const numbers = [field('cpu family'), field('model'), field('stepping')].filter((n) => n !== undefined);
    if (name !== undefined) return numbers.length > 0 ? `${name} (${numbers.join('/')})` : name;
  } catch {
    // Not Linux, or no /proc: Node's own answer has to do.
  }
  return cpus()[0]?.model.trim() ?? process.arch;
}

function cacheSizes(): number[] {
  const folder = '/sys/devices/system/cpu/cpu0/cache';
  try {
    const sizes: number[] = [];
    for (const index of readdirSync(folder)
      .filter((name) => name.startsWith('index'))
      .sort()) {
      if (readFileSync(`${folder}/${index}/type`, 'latin1').startsWith('Instruction')) continue;
      sizes.push(Number.parseInt(readFileSync(`${folder}/${index}/size`, 'latin1'), 10));
    }
    return sizes.filter(Number.isFinite);
  } catch {
    return [];
  }
}
