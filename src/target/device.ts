// The device: what a configuration is measured on.
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
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
  const info = firstProcessor();
  return {
    model: cpuModel(info),
    driver,
    threads: driver === 'local-sync' ? 1 : physicalCores(info),
    cachesKiB: cacheSizes(),
  };
}

type ProcessorInfo = (name: string) => string | undefined;

/** Fields of Linux's description of the first processor; all undefined elsewhere. */
function firstProcessor(): ProcessorInfo {
  let text = '';
  try {
    const file = openSync('/proc/cpuinfo', 'r');
    try {
      // The rest says the same of every other processor, and takes the kernel a while on large machines.
      const head = Buffer.alloc(4096);
      text = head.toString('latin1', 0, readSync(file, head)).split('\n\n')[0] ?? '';
    } finally {
      closeSync(file);
    }
  } catch {
    // Not Linux, or no /proc.
  }
  return (name) => new RegExp(`^${name}\\s*: (.*)$`, 'm').exec(text)?.[1]?.trim();
}

/** Cloud machines hide the model number in the name ("AMD EPYC"), so family, model and stepping are added. */
function cpuModel(info: ProcessorInfo): string {
  const name = info('model name') ?? info('Processor') ?? cpus()[0]?.model.trim() ?? process.arch;
  const numbers = [info('cpu family'), info('model'), info('stepping')].filter((n) => n !== undefined);
  return numbers.length > 0 ? `${name} (${numbers.join('/')})` : name;
}

/** Cores that this process may use: IREE's runtime runs one worker on each, not one on each hardware thread. */
function physicalCores(info: ProcessorInfo): number {
  const threadsPerCore = Number(info('siblings')) / Number(info('cpu cores'));
  const available = availableParallelism();
  return threadsPerCore > 1 ? Math.max(1, Math.ceil(available / threadsPerCore)) : available;
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
