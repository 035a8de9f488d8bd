// The device: what a configuration is measured on; and its class, which devices have in common that hardly differ.
import { isIntegerWithin, isObject } from '../system/data.ts';

export interface Device {
  /**
   * CPU model as the system names it, with family and stepping where the name alone is not unique. Of a GPU the name that
   * its driver gives it; of a software driver also the CPU that it runs on.
   */
  readonly model: string;
  /** Runtime driver: the value of the runtime's `--device=`. */
  readonly driver: string;
  /** Threads of the host that the program runs on; 1 for a GPU. */
  readonly threads: number;
  /** Sizes in KiB of the data and unified caches of one core, from level 1 up. */
  readonly cachesKiB: readonly number[];
  /** Its model in numbers: absent where the system does not tell, or has several, and in what earlier versions wrote. */
  readonly processor?: Processor | undefined;
  /** The device as its driver describes it; absent for a CPU. */
  readonly gpu?: Gpu | undefined;
}

/** A GPU, or a program that stands in for one. */
export interface Gpu {
  /** Driver and its version, such as `radv Mesa 25.2.1`: other drivers generate other code. */
  readonly version: string;
  /** Subgroup size in threads. */
  readonly subgroup: number;
  /** Whether it is a program on the CPU, such as llvmpipe: it shares the CPU's measuring lock and caches. */
  readonly isSoftware: boolean;
}

/** Variables of the environment that choose devices and drivers, and how they run: another value may be another device. */
export const DEVICE_VARIABLES = [
  ...['VK_DRIVER_FILES', 'VK_ICD_FILENAMES', 'VK_ADD_DRIVER_FILES', 'VK_LOADER_DRIVERS_SELECT'],
  ...['MESA_VK_DEVICE_SELECT', 'LP_NUM_THREADS'],
  ...['CUDA_VISIBLE_DEVICES', 'HIP_VISIBLE_DEVICES', 'ROCR_VISIBLE_DEVICES', 'GPU_DEVICE_ORDINAL'],
] as const;

/** Means of finding out about a device. */
export interface DeviceQuestion {
  /** The runtime's `iree-run-module`, which lists devices; null where it is not installed. */
  readonly runModule: () => string | null;
  readonly cacheDirectory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a CPU is, without what its maker calls it on the market, and without its stepping. */
export interface Processor {
  /** Instruction set, in the spelling of Node's `process.arch`. */
  readonly architecture: string;
  /** Its maker as the system says it: `AuthenticAMD`; on ARM the implementer's code, such as `0x41`. */
  readonly vendor: string;
  /** On ARM the version of the architecture. */
  readonly family: number;
  /** On ARM the part. */
  readonly model: number;
  /** Hardware threads of one core. */
  readonly threadsPerCore: number;
  readonly caches: readonly Cache[];
}

/** A data or unified cache of a core. */
export interface Cache {
  /** From 1 up. */
  readonly level: number;
  readonly sizeKiB: number;
  /** Hardware threads that it is shared by. */
  readonly threads: number;
}

/** Stands for a device that cannot be described here. */
export const unknownDevice = (driver: string): Device => ({
  model: 'unknown',
  driver,
  threads: 1,
  cachesKiB: [],
});

/** Readable canonical key. */
export function deviceKey(device: Device): string {
  const caches = device.cachesKiB.length === 0 ? '' : ` caches=${device.cachesKiB.join('/')}K`;
  const version = device.gpu === undefined ? '' : ` version=${device.gpu.version}`;
  return `${device.model} ${device.driver} threads=${device.threads}${caches}${version}`;
}

/** Bytes of its largest cache; null where the system does not tell. */
export const largestCache = ({ cachesKiB }: Device): number | null =>
  cachesKiB.length === 0 ? null : 1024 * Math.max(...cachesKiB);

/** Goes up when the same form leads to another class; classes of different versions are never equal. */
const CLASS_VERSION = 1;

/** Caches from here up belong to several cores, though a machine of which one core can be seen does not show it. */
const SHARED_LEVEL = 3;

/**
 * Readable canonical key of what devices have in common that differ in stepping, in name, or in what their cores share.
 * Made anew from the stored description wherever it is asked for, so that it need not be stored.
 * @param form a device's description, out of a database perhaps
 * @returns null where the description does not say enough: better no class than a wrong one
 */
export function deviceClass(form: unknown): string | null {
  if (!isDevice(form) || !isProcessor(form.processor) || !/^[\w:/.-]{1,64}$/.test(form.driver)) return null;
  const { architecture, vendor, family, model, threadsPerCore, caches } = form.processor;
  const own = caches
    .filter(({ level, threads }) => level < SHARED_LEVEL && threads <= threadsPerCore)
    .toSorted((a, b) => a.level - b.level)
    .map(({ sizeKiB }) => sizeKiB);
  const text = own.length === 0 ? '' : ` caches=${own.join('/')}K`;
  return `v${CLASS_VERSION} ${architecture} ${vendor} family=${family} model=${model} ${form.driver} threads=${form.threads}${text}`;
}

/** Whether a value, of a database say, describes a device; later versions may say more. */
export function isDevice(value: unknown): value is Device {
  if (!isObject(value)) return false;
  const { model, driver, threads, cachesKiB } = value;
  return (
    typeof model === 'string' &&
    typeof driver === 'string' &&
    isIntegerWithin(threads, 1, MOST_THREADS) &&
    Array.isArray(cachesKiB) &&
    cachesKiB.every((size) => isIntegerWithin(size, 0, MOST_KIB))
  );
}

const MOST_THREADS = 2 ** 20;
const MOST_KIB = 2 ** 40;
const MOST_CACHES = 16;

function isProcessor(value: unknown): value is Processor {
  if (!isObject(value)) return false;
  const { architecture, vendor, family, model, threadsPerCore, caches } = value;
  return (
    [architecture, vendor].every((name) => typeof name === 'string' && /^\w{1,32}$/.test(name)) &&
    [family, model].every((number) => isIntegerWithin(number, 0, 2 ** 32)) &&
    isIntegerWithin(threadsPerCore, 1, MOST_THREADS) &&
    Array.isArray(caches) &&
    caches.length <= MOST_CACHES &&
    caches.every(
      (cache: unknown) =>
        isObject(cache) &&
        isIntegerWithin(cache['level'], 1, MOST_CACHES) &&
        isIntegerWithin(cache['sizeKiB'], 0, MOST_KIB) &&
        isIntegerWithin(cache['threads'], 1, MOST_THREADS),
    )
  );
}
