// Facts about a machine's CPU from the files of its system. `root` is the folder of `proc` and `sys`: by default this machine's; for another machine
// the folder of copies.
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { resultOr } from './result-or.ts';
import { namesIn, readHead, textIn } from './files.ts';
import { shortHash } from './hash.ts';

/** CPU features by the system's names; empty if unknown. Hypervisors hide features, so CPUs of one model can differ. */
export const cpuFeatures = (root = ''): string =>
  info('flags', root) ?? info('Features', root) ?? info('isa', root) ?? '';

/** Instruction sets by the system's names, where Node's differ. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: 'x64', aarch64: 'arm64', armv8l: 'arm64' };

/** The instruction set, in the spelling of Node's `process.arch`. */
export function architecture(root = ''): string {
  if (root === '') return process.arch;
  const name = textIn(`${root}/machine`).trim();
  return ARCHITECTURES[name] ?? name;
}

/** Bytes of memory that this process may use: the machine's or the container's limit. */
export const memoryBytes = (): number => Math.min(totalmem(), process.constrainedMemory() || Infinity);

let host: string | undefined;

/** Identifies the CPU that the compiler's `host` means. */
export const hostCpu = (): string => (host ??= `${cpuModel()} ${shortHash(cpuFeatures())}`);

let processor: string | undefined;

/** Text about the first processor: the whole file takes long on large machines. One processor takes up to 4 KB today. */
function firstProcessor(root: string): string {
  const read = () => readHead(`${root}/proc/cpuinfo`, 16384).split('\n\n')[0] ?? '';
  return root === '' ? (processor ??= read()) : read();
}

/** A field of the first processor in `/proc/cpuinfo`; undefined without the file. */
const info = (name: string, root: string): string | undefined =>
  new RegExp(`^${name}\\s*: (.*)$`, 'm').exec(firstProcessor(root))?.[1]?.trim();

/** Fields that tell models and steppings apart. Each architecture has its own. */
const FIELDS = [
  ...['cpu family', 'model', 'stepping'],
  ...['CPU implementer', 'CPU part', 'CPU variant'],
  ...['mvendorid', 'marchid', 'mimpid'],
];

/** Node's name of a CPU that Node does not know. */
const UNKNOWN = 'unknown';

/** The CPU's name with these fields, because cloud machines, boards and phones hide the model in the name ("AMD EPYC"). */
export function cpuModel(root = ''): string {
  const own = root === '' ? (cpus()[0]?.model.trim() ?? UNKNOWN) : UNKNOWN;
  const name =
    info('model name', root) ??
    info('Processor', root) ??
    info('uarch', root) ??
    (own === UNKNOWN ? architecture(root) : own);
  const numbers = FIELDS.map((field) => info(field, root)).filter((n) => n !== undefined);
  return numbers.length > 0 ? `${name} (${numbers.join('/')})` : name;
}

/** IREE's default limit of workers. */
const MOST_WORKERS = 64;

const SYSTEM = '/sys/devices/system';

/**
 * Number of workers that IREE's runtime starts by default: the allowed cores of one NUMA node. The runtime ignores CPU quotas.
 * @param perCore average hardware threads of a core
 * @param allowed hardware threads that this process may use; null if unknown
 */
export function physicalCores(
  system = SYSTEM,
  perCore = siblingsPerCore(''),
  allowed = allowedThreads(''),
): number {
  const nodes = allowed === null ? null : threadsOfNodes(system);
  if (allowed === null || nodes === null) return Math.max(1, Math.ceil(availableParallelism() / perCore));
  const cores = nodes.map((node) => {
    const own = node.filter((thread) => allowed.has(thread));
    return own.length < node.length && perCore > 1
      ? new Set(own.map((thread) => siblingsOf(thread, system))).size
      : Math.ceil(own.length / perCore);
  });
  // The system may run a program on any node, so take the largest. Nodes differ only by forbidden cores.
  return Math.min(MOST_WORKERS, Math.max(1, ...cores));
}

/** The same for the files of a machine. */
export const coresIn = (root: string): number =>
  physicalCores(`${root}${SYSTEM}`, siblingsPerCore(root), allowedThreads(root));

/** An average, because some processors have two kinds of cores. */
function siblingsPerCore(root: string): number {
  const ratio = Number(info('siblings', root)) / Number(info('cpu cores', root));
  return ratio > 1 ? ratio : 1;
}

function allowedThreads(root: string): ReadonlySet<number> | null {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(textIn(`${root}/proc/self/status`))?.[1];
  return list === undefined ? null : new Set(numbersOf(list));
}

/** Online hardware threads by NUMA node; null if unknown. */
function threadsOfNodes(system: string): number[][] | null {
  const read = (name: string) => numbersOf(readFileSync(`${system}/${name}`, 'latin1'));
  return resultOr(() => {
    const nodes = existsSync(`${system}/node/online`) ? read('node/online') : [];
    return nodes.length > 1 ? nodes.map((node) => read(`node/node${node}/cpulist`)) : [read('cpu/online')];
  }, null);
}

/** Threads of a thread's core, in Linux's list format; the thread alone if unknown. */
const siblingsOf = (thread: number, system: string): string =>
  textIn(`${system}/cpu/cpu${thread}/topology/thread_siblings_list`).trim() || String(thread);

/** Sizes in KiB of one core's data and unified caches, from level 1; empty if unknown. */
export const cacheSizesKiB = (root = ''): number[] =>
  caches(root)
    .map(({ sizeKiB }) => sizeKiB)
    .filter(Number.isFinite);

/** The same caches with the number of hardware threads that share each; empty if unknown. */
export const sharedCaches = (root = ''): Cache[] =>
  caches(root).filter(({ level, sizeKiB, threads }) => Number.isFinite(level + sizeKiB) && threads > 0);

/** A data or unified cache of a core. */
export interface Cache {
  /** From 1 up. */
  readonly level: number;
  readonly sizeKiB: number;
  /** Hardware threads that share the cache. */
  readonly threads: number;
}

/** Numbers of unreadable files are NaN. */
function caches(root: string): Cache[] {
  const folder = `${root}${SYSTEM}/cpu/cpu0/cache`;
  const indices = namesIn(folder).filter((name) => name.startsWith('index'));
  return indices
    .sort()
    .map((index) => (name: string) => textIn(`${folder}/${index}/${name}`))
    .filter((field) => !field('type').startsWith('Instruction'))
    .map((field) => ({
      level: Number.parseInt(field('level'), 10),
      sizeKiB: Number.parseInt(field('size'), 10),
      threads: numbersOf(field('shared_cpu_list')).length,
    }));
}

/** Hardware threads of one core; 1 if unknown. */
export const threadsPerCore = (root = ''): number => numbersOf(siblingsOf(0, `${root}${SYSTEM}`)).length;

/** Numbers of a Linux list such as `0-3,8`. */
export const numbersOf = (list: string): number[] =>
  list
    .trim()
    .split(',')
    .filter((range) => range !== '')
    .flatMap((range) => {
      const [first, last = first] = range.split('-').map(Number);
      return Array.from({ length: last! - first! + 1 }, (_, i) => first! + i);
    });

/** Model of a CPU. */
export interface CpuNumbers {
  /** The system's name of the vendor, such as `AuthenticAMD`; on ARM the implementer's code, such as `0x41`. */
  readonly vendor: string;
  /** On ARM the version of the architecture. */
  readonly family: number;
  /** On ARM the part. */
  readonly model: number;
}

/** The machine's model; null if unknown, or if it has several. */
export function cpuNumbers(root = ''): CpuNumbers | null {
  // Only ARM machines mix models. Reading all processors is cheap there.
  return numbersIn(
    info('CPU part', root) === undefined ? firstProcessor(root) : textIn(`${root}/proc/cpuinfo`),
  );
}

/** The model in a text of `/proc/cpuinfo`. On x86: vendor, family, model. On ARM: implementer, architecture, part. */
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
