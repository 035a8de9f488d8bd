// What the system says of this machine's CPU.
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { shortHash } from './hash.ts';

/**
 * The features of this machine's CPU as the system names them; empty where it names none. Hypervisors hide features, so
 * CPUs of one model do not always offer the same.
 */
export function cpuFeatures(): string {
  const info = firstProcessor();
  return info('flags') ?? info('Features') ?? info('isa') ?? '';
}

let host: string | undefined;

/** What the compiler takes `host` for, in few words. */
export const hostCpu = (): string => (host ??= `${cpuModel()} ${shortHash(cpuFeatures())}`);

type ProcessorInfo = (name: string) => string | undefined;

let processor: string | undefined;

/** Fields of Linux's description of the first processor; all undefined elsewhere. Read once. */
function firstProcessor(): ProcessorInfo {
  const text = (processor ??= readFirstProcessor());
  return (name) => new RegExp(`^${name}\\s*: (.*)$`, 'm').exec(text)?.[1]?.trim();
}

/** Empty where there is none. */
function readFirstProcessor(): string {
  try {
    const file = openSync('/proc/cpuinfo', 'r');
    try {
      // The rest says the same of every other processor, and takes the kernel a while on large machines. The names of one
      // processor's features and errata take up to 4 KB today.
      const head = Buffer.alloc(16384);
      return head.toString('latin1', 0, readSync(file, head)).split('\n\n')[0] ?? '';
    } finally {
      closeSync(file);
    }
  } catch {
    // Not Linux, or no /proc.
    return '';
  }
}

/** The CPU's name. Cloud machines hide the model number in it ("AMD EPYC"), so family, model and stepping are added. */
export function cpuModel(): string {
  const info = firstProcessor();
  const name = info('model name') ?? info('Processor') ?? cpus()[0]?.model.trim() ?? process.arch;
  const numbers = [info('cpu family'), info('model'), info('stepping')].filter((n) => n !== undefined);
  return numbers.length > 0 ? `${name} (${numbers.join('/')})` : name;
}

/** Cores that this process may use: IREE's runtime runs one worker on each, not one on each hardware thread. */
export function physicalCores(): number {
  const info = firstProcessor();
  const threadsPerCore = Number(info('siblings')) / Number(info('cpu cores'));
  const available = availableParallelism();
  return threadsPerCore > 1 ? Math.max(1, Math.ceil(available / threadsPerCore)) : available;
}

/** Sizes in KiB of the data and unified caches of one core, from level 1 up; none where the system does not tell. */
export function cacheSizesKiB(): number[] {
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
