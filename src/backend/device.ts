// The device that measures configurations; and its class, a group of devices with almost the same speed.
import { hasFields, isIntegerWithin, isObject, isText, listOf, matches } from '../system/data.ts';
import type { Cache, CpuNumbers } from '../system/processor.ts';
import { isWithin } from './schema.ts';

export interface Device {
  /**
   * The system's name of the CPU, with family and stepping if the name is not unique. For a GPU the driver's name; for a software driver
   * also the CPU.
   */
  readonly model: string;
  /** The value of the runtime's `--device=`, such as `local-task` or `cuda://1`. */
  readonly driver: string;
  /** Host threads of the program; 1 for a GPU. */
  readonly threads: number;
  /** Number of CPUs in a container's quota. Absent if the quota lets all threads run all the time. */
  readonly quota?: number | undefined;
  /** Sizes in KiB of the data and unified caches of one core, from level 1 up. */
  readonly cachesKiB: readonly number[];
  /** The CPU model in numbers. Absent if unknown, for several models, and in devices of earlier versions. */
  readonly processor?: Processor | undefined;
  /** Absent for a CPU. */
  readonly gpu?: Gpu | undefined;
}

/** A GPU, or a software driver. */
export interface Gpu {
  /** Instruction set, such as `sm_90` or `gfx942`; absent for Vulkan. */
  readonly architecture?: string | undefined;
  /** Driver and version, such as `radv Mesa 25.2.1`, because other drivers compile other code. Empty for HIP, which loads machine code. */
  readonly version: string;
  /** Number of multiprocessors or compute units; absent for Vulkan. Partitions and variants of a GPU share its name. */
  readonly units?: number | undefined;
  /** Distinguishes equal GPUs: each has its own measuring lock. Not stored, because equal GPUs share records. */
  readonly uuid?: string | undefined;
  /** Subgroup size in threads. */
  readonly subgroup: number;
  /** Whether the driver runs on the CPU, as llvmpipe does. */
  readonly isSoftware: boolean;
}

/** Environment variables that choose devices, drivers and their threads. Another value may mean another device. */
export const DEVICE_VARIABLES = [
  ...['VK_DRIVER_FILES', 'VK_ICD_FILENAMES', 'VK_ADD_DRIVER_FILES', 'VK_LOADER_DRIVERS_SELECT'],
  ...['MESA_VK_DEVICE_SELECT', 'LP_NUM_THREADS'],
  ...['CUDA_VISIBLE_DEVICES', 'HIP_VISIBLE_DEVICES', 'ROCR_VISIBLE_DEVICES', 'GPU_DEVICE_ORDINAL'],
] as const;

export interface DeviceQuestion {
  /** Folder of the files that describe the machine: see `system/processor.ts`. Empty for this machine. */
  readonly root: string;
  /** The runtime's `iree-run-module`, which lists devices; null if missing. */
  readonly runModule: () => string | null;
  readonly cacheDirectory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A CPU without its marketing name and stepping. */
export interface Processor extends CpuNumbers {
  /** Instruction set, in the spelling of Node's `process.arch`. */
  readonly architecture: string;
  readonly threadsPerCore: number;
  readonly caches: readonly Cache[];
}

/** Stands for a device that is missing or runs no code for the target: no record has its key. */
export const unknownDevice = (driver: string): Device => ({
  model: 'unknown',
  driver,
  threads: 1,
  cachesKiB: [],
});

/** The runtime's driver of a device, such as `vulkan` for `vulkan://0`. */
export const driverOf = (device: string): string => device.replace(/:.*/s, '');

/** The field `quota` of a device with this number of threads. @param quota of `cpuQuota` */
export const limitedBy = (quota: number | null, threads: number): Pick<Device, 'quota'> =>
  quota === null || quota >= threads ? {} : { quota: Math.max(0.01, Math.round(quota * 100) / 100) };

const quotaText = ({ quota }: Device) => (quota === undefined ? '' : ` quota=${quota}`);

/** Readable canonical key. Equal GPUs have the same key. */
export function deviceKey(device: Device): string {
  const { model, driver, threads, cachesKiB, gpu } = device;
  const caches = cachesKiB.length === 0 ? '' : ` caches=${cachesKiB.join('/')}K`;
  const rest = `${quotaText(device)}${caches}${gpu === undefined ? '' : gpuText(gpu)}`;
  return `${model} ${driverOf(driver)} threads=${threads}${rest}`;
}

function gpuText({ architecture = '', version, units }: Gpu): string {
  const text = ` version=${`${architecture} ${version}`.trim()}`;
  return units === undefined ? text : `${text} units=${units}`;
}

/** The description in a database: the same for equal GPUs. */
export const storedDevice = (device: Device): Device =>
  device.gpu === undefined
    ? device
    : { ...device, driver: driverOf(device.driver), gpu: { ...device.gpu, uuid: undefined } };

/** Bytes of its largest cache; null if unknown. */
export const largestCache = ({ cachesKiB }: Device): number | null =>
  cachesKiB.length === 0 ? null : 1024 * Math.max(...cachesKiB);

/** Bytes of the largest cache that a core has for itself: of level 2, else of level 1; null if unknown. */
export const ownCache = ({ cachesKiB: [first, second = first] }: Device): number | null =>
  second === undefined ? null : 1024 * second;

/** Changes with the rule for classes. Classes of different versions are never equal. */
const CLASS_VERSION = 1;

/** Caches from this level up belong to several cores, even if the system shows one core only. */
const SHARED_LEVEL = 3;

/**
 * Readable canonical key of a class: CPUs that differ only in stepping, name or shared caches; GPUs of one architecture with as many
 * units, of any name and driver version. The key follows from the stored description, so no database stores it.
 * @param form a device's description, such as a row of a database
 * @returns null for an incomplete description: no class is better than a wrong class
 */
export function deviceClass(form: unknown): string | null {
  if (!isDevice(form) || !/^[\w:/.-]{1,64}$/.test(form.driver)) return null;
  const text = form.gpu === undefined ? processorClass(form) : gpuClass(form.gpu, driverOf(form.driver));
  return text && `v${CLASS_VERSION} ${text}`;
}

/** The class of a device by its description; its key if it has none. */
export const classOr = (key: string, form: unknown): string => deviceClass(form) ?? key;

function processorClass(device: Device): string | null {
  const { processor, driver, threads } = device;
  if (!isProcessor(processor)) return null;
  const { architecture, vendor, family, model, threadsPerCore, caches } = processor;
  const own = caches
    .filter((cache) => cache.level < SHARED_LEVEL && cache.threads <= threadsPerCore)
    .toSorted((a, b) => a.level - b.level)
    .map(({ sizeKiB }) => sizeKiB);
  const text = own.length === 0 ? '' : ` caches=${own.join('/')}K`;
  const threaded = `threads=${threads}${quotaText(device)}`;
  return `${architecture} ${vendor} family=${family} model=${model} ${driver} ${threaded}${text}`;
}

/** @param gpu untrusted */
function gpuClass(gpu: unknown, driver: string): string | null {
  if (!isObject(gpu) || !isIntegerWithin(gpu['units'], 1, MOST_THREADS)) return null;
  const { architecture, units } = gpu;
  const isName = typeof architecture === 'string' && /^\w{1,32}$/.test(architecture);
  return isName ? `${architecture} ${driver} units=${Number(units)}` : null;
}

const MOST_THREADS = 2 ** 20;
const MOST_KIB = 2 ** 40;
const MOST_CACHES = 16;

const isPlainDevice = hasFields<Pick<Device, 'model' | 'driver' | 'threads' | 'cachesKiB'>>({
  ...{ model: isText, driver: isText, threads: isWithin(1, MOST_THREADS) },
  cachesKiB: listOf(isWithin(0, MOST_KIB)),
});

/** Whether a value, such as a row of a database, describes a device. Later versions may add fields. */
export function isDevice(value: unknown): value is Device {
  if (!isPlainDevice(value)) return false;
  const quota: unknown = 'quota' in value ? value.quota : undefined;
  return quota === undefined || (typeof quota === 'number' && quota > 0 && quota < value.threads);
}

const isCache = hasFields<Cache>({
  ...{ level: isWithin(1, MOST_CACHES), sizeKiB: isWithin(0, MOST_KIB), threads: isWithin(1, MOST_THREADS) },
});
const isName = matches(/^\w{1,32}$/);

const isProcessor = hasFields<Processor>({
  ...{ architecture: isName, vendor: isName, family: isWithin(0, 2 ** 32), model: isWithin(0, 2 ** 32) },
  threadsPerCore: isWithin(1, MOST_THREADS),
  caches: (value) => listOf(isCache)(value) && (value as unknown[]).length <= MOST_CACHES,
});
