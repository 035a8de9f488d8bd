// What the system says of this machine's CPU.
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { shortHash } from './hash.ts';

/**
 * The features of this machine's CPU as the system names them; empty where it names none. Hypervisors hide features, so
 * CPUs of one model do not always offer the same.
 */
export function cpuFeatures(): string {
  const info = firstProcessor();
  return info('flags') ?? info('Features') ?? info('isa') ?? '';
}

/** Bytes of memory that this process may use: the machine's, or the limit of its container. */
export const memoryBytes = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity);

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

/** IREE's runtime makes no more workers by itself. */
const MOST_WORKERS = 64;

const SYSTEM = '/sys/devices/system';

/**
 * Cores that IREE's runtime runs a worker on by itself: those of one NUMA node that this process may use. A quota of processor time
 * takes none away, since the runtime does not look at it.
 * @param perCore hardware threads of a core, on average
 * @param allowed hardware threads that this process may use; null where the system does not tell
 */
export function physicalCores(
  system = SYSTEM,
  perCore = siblingsPerCore(),
  allowed = allowedThreads(),
): number {
  const nodes = allowed === null ? null : threadsOfNodes(system);
  if (allowed === null || nodes === null) return Math.max(1, Math.ceil(availableParallelism() / perCore));
  const cores = nodes.map((node) => {
    const own = node.filter((thread) => allowed.has(thread));
    return own.length < node.length && perCore > 1
      ? new Set(own.map((thread) => siblingsOf(thread, system))).size
      : Math.ceil(own.length / perCore);
  });
  // The system starts a program on any node. They are of one size, unless some of their cores may not be used.
  return Math.min(MOST_WORKERS, Math.max(1, ...cores));
}

/** On average: some processors have cores of two sorts. */
function siblingsPerCore(): number {
  const info = firstProcessor();
  const ratio = Number(info('siblings')) / Number(info('cpu cores'));
  return ratio > 1 ? ratio : 1;
}

function allowedThreads(): ReadonlySet<number> | null {
  try {
    const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1];
    return list === undefined ? null : new Set(numbersOf(list));
  } catch {
    return null;
  }
}

/** Hardware threads that are on, by NUMA node; null where the system does not tell. */
function threadsOfNodes(system: string): number[][] | null {
  const read = (name: string) => numbersOf(readFileSync(`${system}/${name}`, 'latin1'));
  try {
    const nodes = existsSync(`${system}/node/online`) ? read('node/online') : [];
    return nodes.length > 1 ? nodes.map((node) => read(`node/node${node}/cpulist`)) : [read('cpu/online')];
  } catch {
    return null;
  }
}

/** The threads of the core that a thread is one of, as a list; the thread alone where the system does not tell. */
function siblingsOf(thread: number, system: string): string {
  try {
    return readFileSync(`${system}/cpu/cpu${thread}/topology/thread_siblings_list`, 'latin1').trim();
  } catch {
    return String(thread);
  }
}

const CPU = `${SYSTEM}/cpu/cpu0`;

/** Sizes in KiB of the data and unified caches of one core, from level 1 up; none where the system does not tell. */
export function cacheSizesKiB(): number[] {
  try {
    return cacheFolders()
      .map((folder) => numberIn(`${folder}/size`))
      .filter(Number.isFinite);
  } catch {
    return [];
  }
}

/** The same caches, each with the hardware threads that share it; none where the system does not tell. */
export function sharedCaches(): { level: number; sizeKiB: number; threads: number }[] {
  try {
    return cacheFolders().map((folder) => ({
      level: numberIn(`${folder}/level`),
      sizeKiB: numberIn(`${folder}/size`),
      threads: numbersOf(readFileSync(`${folder}/shared_cpu_list`, 'latin1')).length,
    }));
  } catch {
    return [];
  }
}

/** Hardware threads of one core, as far as the system shows it. */
export function threadsPerCore(): number {
  try {
    return numbersOf(readFileSync(`${CPU}/topology/thread_siblings_list`, 'latin1')).length;
  } catch {
    return 1;
  }
}

const numberIn = (path: string) => Number.parseInt(readFileSync(path, 'latin1'), 10);

function cacheFolders(): string[] {
  return readdirSync(`${CPU}/cache`)
    .filter((name) => name.startsWith('index'))
    .sort()
    .map((name) => `${CPU}/cache/${name}`)
    .filter((folder) => !readFileSync(`${folder}/type`, 'latin1').startsWith('Instruction'));
}

/** What a list of Linux names, such as `0-3,8`; nothing where it is empty. */
const numbersOf = (list: string): number[] =>
  list
    .trim()
    .split(',')
    .filter((range) => range !== '')
    .flatMap((range) => {
      const [first, last = first] = range.split('-').map(Number);
      return Array.from({ length: last! - first! + 1 }, (_, i) => first! + i);
    });

/** A model of CPUs in numbers. */
export interface CpuNumbers {
  readonly vendor: string;
  readonly family: number;
  readonly model: number;
}

/** What this machine's CPU is in numbers; null where the system does not say it, or has several. */
export function cpuNumbers(): CpuNumbers | null {
  // Cores of several models are known on ARM only, where the rest costs the kernel nothing.
  const text = firstProcessor()('CPU part') === undefined ? (processor ?? '') : readWhole();
  return numbersIn(text);
}

function readWhole(): string {
  try {
    return readFileSync('/proc/cpuinfo', 'latin1');
  } catch {
    return '';
  }
}

/**
 * The model in Linux's description of all processors, or of the first one. Of x86 that is vendor, family and model; of ARM the
 * implementer, the version of the architecture and the part.
 */
export function numbersIn(text: string): CpuNumbers | null {
  const all = (name: string) => [
    ...new Set([...text.matchAll(new RegExp(`^${name}\\s*: (.*)$`, 'gm'))].map(([, value]) => value!.trim())),
  ];
  const names = text.includes('CPU part')
    ? (['CPU implementer', 'CPU architecture', 'CPU part'] as const)
    : (['vendor_id', 'cpu family', 'model'] as const);
  const [vendor, family, model] = names.map(all);
  if ([vendor, family, model].some((values) => values!.length !== 1)) return null;
  const numbers = { vendor: vendor![0]!, family: Number(family![0]), model: Number(model![0]) };
  return Number.isSafeInteger(numbers.family) && Number.isSafeInteger(numbers.model) ? numbers : null;
}
