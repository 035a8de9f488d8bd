// GPUs from the runtime's list, and how they measure.
import { askCompiler } from '../../compiler/ask.ts';
import { isObject } from '../../system/data.ts';
import { readHead } from '../../system/files.ts';
import { resultOr } from '../../system/result-or.ts';
import { driverOf, type Device, type DeviceQuestion } from '../device.ts';
import { timesPerCall, type DispatchTimes, type Meter, type Profile } from '../meter.ts';

/** A device in the list of the runtime's tool, or the reason that there is none. */
export async function listedDevice(
  driver: string,
  { runModule, env }: DeviceQuestion,
  read: (text: string, driver: string) => Device | null,
  missing: string,
): Promise<Device | string> {
  const tool = runModule();
  if (tool === null)
    return 'iree-run-module, which lists devices, is not found: pip install iree-base-runtime';
  const argv = [`--dump_devices=${driverOf(driver)}`];
  const asked = await askCompiler(tool, argv, { env, workSeconds: 30 }).catch(() => null);
  return (asked?.code === 0 ? read(asked.stdout.toString(), driver) : null) ?? missing;
}

/**
 * The section of a device in the output of `iree-run-module --dump_devices=DRIVER`; undefined if missing.
 * @param driver such as `cuda` for the first device; else the runtime's name, or `cuda://` and a number
 */
export function sectionOf(text: string, driver: string): string | undefined {
  const sections = text.split(/^# --device=/m).slice(1);
  const index = /^\w+(?::\/\/(\d+))?$/.exec(driver);
  return index === null
    ? sections.find((one) => one.startsWith(`${driver}\n`))
    : sections[Number(index[1] ?? 0)];
}

/** The UUID in a section, without the dashes that only some drivers print. */
export const uuidIn = (section: string): string | undefined =>
  /^\w+:\/\/GPU-(\S+)/.exec(section)?.[1]?.replaceAll('-', '');

/** The CUDA or HIP device of a driver such as `cuda` or `hip://0`, or the reason that there is none. */
export const describeDevice = (driver: string, question: DeviceQuestion): Promise<Device | string> =>
  listedDevice(
    driver,
    question,
    readDevice,
    `no ${driverOf(driver)} device is found: install the GPU's driver`,
  );

/**
 * A device in the tool's output; null if missing.
 * @param nvidia Linux's description of NVIDIA's driver; empty if missing
 */
export function readDevice(
  text: string,
  driver: string,
  nvidia = readHead('/proc/driver/nvidia/version'),
): Device | null {
  const section = sectionOf(text, driver);
  if (section === undefined) return null;
  const field = (name: string) => new RegExp(`^- (?:${name}): (.*)$`, 'm').exec(section)?.[1]?.trim();
  const model = /^#\s+(\S.*)$/m.exec(section)?.[1]?.trim();
  // For CUDA the runtime prints the capability only, such as 9.0.
  const architecture =
    field('gpu-arch-name')?.replace(/:.*/, '') ??
    field('gpu-compute-capability')?.replace(/^(\d+)\.(\d)$/, 'sm_$1$2');
  const subgroup = Number(field('gpu-warp-size'));
  if (model === undefined || architecture === undefined || !Number.isInteger(subgroup)) return null;
  const units = Number(field('gpu-multiprocessor-count|gpu-compute-unit-count'));
  // A compatibility package brings a compiler that is newer than the driver. The version of CUDA is the compiler's.
  const cuda = field('driver-max-cuda-version');
  const version =
    cuda === undefined ? '' : `${/ (\d+(?:\.\d+)+) /.exec(nvidia)?.[1] ?? ''} CUDA ${cuda}`.trim();
  const gpu = {
    architecture,
    version,
    units: units > 0 ? units : undefined,
    uuid: uuidIn(section),
    subgroup,
  };
  return { model, driver, threads: 1, cachesKiB: [], gpu: { ...gpu, isSoftware: false } };
}

/** The device's profile, which times the dispatches of a program. */
export const PROFILE: Profile = {
  flags: (path) => ['--device_profiling_mode=dispatch-events', `--device_profiling_output=${path}`],
  reader: (path) => ['dispatch', '--format=jsonl', path],
  read: readProfile,
};

/**
 * Reads the groups of `iree-profile dispatch --format=jsonl`: all calls of a dispatch in a process.
 * @returns an empty map for a profile without times
 */
export function readProfile(jsonl: string): DispatchTimes {
  const groups = jsonl.split('\n').flatMap((line) => {
    const group: unknown = resultOr(() => JSON.parse(line) as unknown, null);
    if (!isObject(group) || group['type'] !== 'dispatch_group') return [];
    const { key, valid, avg_ns: nanoseconds } = group;
    return typeof key === 'string' && Number(valid) > 0 && Number(nanoseconds) > 0
      ? [{ key, count: Number(valid), seconds: Number(nanoseconds) / 1e9 }]
      : [];
  });
  return timesPerCall(groups.map(({ key, count, seconds }) => [key, { count, seconds: count * seconds }]));
}

/** Dispatches in one call. A launch takes 3 to 4 us, which is much for one kernel of 10 us. */
const REPEATS = 32;
/** With more floating-point operations in one dispatch, the launch takes little of the time on any GPU. */
const LAUNCH_FLOPS = 2 ** 32;

export const meter: Meter = {
  hasPlacements: false,
  isVerifiedAlone: () => true,
  fillingFlags: [],
  profile: PROFILE,
  repeats: (_, flops) => (flops > LAUNCH_FLOPS ? 1 : REPEATS),
  // The runtime puts all commands of a call into one stream.
  isInOrder: true,
  // 0.35 s from the start of a process to its result (H100).
  startSeconds: 0.35,
  warmUpSeconds: 0.05,
};
