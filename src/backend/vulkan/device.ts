// Vulkan devices from the runtime's list.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEVICES } from '../../system/cache.ts';
import { fileIdentity, namesIn } from '../../system/files.ts';
import { isObject } from '../../system/data.ts';
import { memoryOf } from '../../system/memory.ts';
import { cpuQuota } from '../../system/cpu-quota.ts';
import { resultOr } from '../../system/result-or.ts';
import { cacheSizesKiB, cpuModel, hostCpu, physicalCores } from '../../system/processor.ts';
import { DEVICE_VARIABLES, isDevice, limitedBy, type Device, type DeviceQuestion } from '../device.ts';
import type { Meter } from '../meter.ts';
import { listedDevice, PROFILE, sectionOf, uuidIn } from '../gpu/device.ts';
import { readGpuTarget } from '../gpu/target.ts';
import type { Target } from '../target.ts';

/** The Vulkan loader's default folders for manifests of drivers. */
const MANIFEST_FOLDERS = ['/usr/share', '/usr/local/share', '/etc'].map((folder) => `${folder}/vulkan/icd.d`);

/** Manifests of Vulkan drivers, their folders, and their libraries. */
export function driverFiles({ env }: Pick<DeviceQuestion, 'env'>): readonly string[] {
  const named = env['VK_DRIVER_FILES'] ?? env['VK_ICD_FILENAMES'];
  const manifests = named?.split(':') ?? MANIFEST_FOLDERS.flatMap((folder) => [folder, ...filesIn(folder)]);
  return manifests.flatMap((path) => [path, ...libraryOf(path)]);
}

const filesIn = (folder: string): string[] =>
  namesIn(folder)
    .sort()
    .map((name) => join(folder, name));

/** The library of a manifest; none for a relative path. */
function libraryOf(manifest: string): string[] {
  const value = resultOr(() => JSON.parse(readFileSync(manifest, 'utf8')) as unknown, null);
  const icd = isObject(value) && isObject(value['ICD']) ? value['ICD']['library_path'] : undefined;
  return typeof icd === 'string' && icd.startsWith('/') ? [icd] : [];
}

const NO_DEVICE =
  'no Vulkan device is found: install a driver, or mesa-vulkan-drivers and libvulkan1 for one on the CPU';

/** The device of a driver such as `vulkan` or `vulkan://0`, or the reason that there is none. */
export async function describeDevice(driver: string, question: DeviceQuestion): Promise<Device | string> {
  const { env, cacheDirectory, runModule } = question;
  const files = [runModule() ?? '', ...driverFiles(question)].map((path) => fileIdentity(path));
  const variables = DEVICE_VARIABLES.map((name) => env[name] ?? null);
  const identity = JSON.stringify([driver, hostCpu(), physicalCores(), cpuQuota(), files, variables]);
  const known = memory.recall(cacheDirectory, identity);
  if (known !== null) return known.device;
  const device = await listedDevice(driver, question, readDevice, NO_DEVICE);
  if (typeof device !== 'string') memory.remember(cacheDirectory, { identity, device });
  return device;
}

interface Known {
  readonly identity: string;
  readonly device: Device;
}

const memory = memoryOf(
  DEVICES,
  (value): value is Known =>
    isObject(value) && typeof value['identity'] === 'string' && isDevice(value['device']),
);

/** A device in the tool's output; null if missing. */
export function readDevice(text: string, driver: string): Device | null {
  const section = sectionOf(text, driver);
  if (section === undefined) return null;
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(section)?.[1]?.trim() ?? '';
  const name = field('name');
  const subgroup = Number(/^subgroup: size=(\d+)/m.exec(section)?.[1]);
  if (name === '' || !Number.isInteger(subgroup)) return null;
  const isSoftware = field('type') === 'cpu';
  const version = `${field('driver')} ${field('driver_info')}`.trim();
  const gpu = { version, uuid: uuidIn(section), subgroup, isSoftware };
  return isSoftware
    ? {
        model: `${name} on ${cpuModel()}`,
        driver,
        threads: physicalCores(),
        // The driver starts a thread on each core, whatever the quota.
        ...limitedBy(cpuQuota(), physicalCores()),
        cachesKiB: cacheSizesKiB(),
        gpu,
      }
    : { model: name, driver, threads: 1, cachesKiB: [], gpu };
}

/** The reason that a device cannot run code for a target; null if the device can. */
export function whyNotRunnable({ gpu, cpu }: Target, device: Device): Promise<string | null> {
  const sizes = readGpuTarget(Buffer.from(gpu ?? ''))?.subgroupSizes ?? [];
  const own = device.gpu?.subgroup;
  return Promise.resolve(
    own !== undefined && sizes.includes(own)
      ? null
      : `code for ${cpu} has subgroups of ${sizes.join(' or ')} threads, and ${device.model} of ${own ?? 'none'}`,
  );
}

/** Floating-point operations of a kernel that takes about as long as its launch. */
const LAUNCH_FLOPS = 2 ** 30;
const REPEATS = 16;

export const meter: Meter = {
  hasPlacements: false,
  // Each process compiles all kernels of the module: a batch would take half of its time. A kernel on the CPU breaks its process only.
  isVerifiedAlone: ({ gpu }) => gpu?.isSoftware !== true,
  // The runtime's debug allocator does not work on Vulkan. Guards around results show unwritten parts instead.
  fillingFlags: [],
  profile: PROFILE,
  repeats: ({ gpu }, flops) => (gpu?.isSoftware === true || flops > LAUNCH_FLOPS ? 1 : REPEATS),
  isInOrder: false,
  // The driver compiles all kernels of a module first.
  startSeconds: 0.5,
  warmUpSeconds: 0.01,
};
