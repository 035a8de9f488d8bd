// The CPU as a device of IREE's runtime.
import { isBefore, type Release } from '../../compiler/release.ts';
import { hasIntrinsic, type PackingName, type Packings } from '../../form/packing.ts';
import { cpuQuota, threadsWithin } from '../../system/cpu-quota.ts';
import {
  cacheSizesKiB,
  cpuModel,
  cpuNumbers,
  physicalCores,
  sharedCaches,
  threadsPerCore,
} from '../../system/processor.ts';
import type { Hardware } from '../backend.ts';
import { limitedBy, type Device, type Processor } from '../device.ts';
import type { Meter } from '../meter.ts';
import { targetArchitecture, type Target } from '../target.ts';

/**
 * This machine for a driver of the runtime. In a container it has fewer threads than cores if its CPU quota would stop more.
 * @param quota of `cpuQuota`
 */
export function describeDevice(
  driver: string,
  quota = cpuQuota(),
  cores: () => number = () => physicalCores(),
): Device {
  let processor: Processor | null | undefined;
  const threads = driver === 'local-sync' ? 1 : threadsWithin(quota, cores());
  return {
    model: cpuModel(),
    driver,
    threads,
    cachesKiB: cacheSizesKiB(),
    ...limitedBy(quota, threads),
    // Half a millisecond of system calls, which a hit does not need.
    get processor() {
      processor ??= describeProcessor();
      return processor ?? undefined;
    },
  };
}

function describeProcessor(): Processor | null {
  const numbers = cpuNumbers();
  if (numbers === null) return null;
  return {
    architecture: process.arch,
    ...numbers,
    threadsPerCore: threadsPerCore(),
    caches: sharedCaches(),
  };
}

/** The placement of operands changes the speed. Calls take almost no time. */
export const meter: Meter = {
  hasPlacements: true,
  isVerifiedAlone: () => false,
  fillingFlags: ['--device_allocator=debug'],
  repeats: () => 1,
  isInOrder: false,
  startSeconds: 0.05,
  warmUpSeconds: 0,
};

/** The reason that this machine's CPU cannot run code for `target`; null if the CPU can. */
export async function whyNotRunnable(
  target: Target,
  _: Device,
  hostTarget: () => Promise<Target | null>,
): Promise<string | null> {
  if (targetArchitecture(target) !== process.arch)
    return `this machine is ${process.arch} and cannot run ${target.triple}`;
  const host = await hostTarget();
  if (host === null) return "this machine's own CPU features are not known";
  const own = new Set(host.features);
  const missing = target.features.filter((feature) => !own.has(feature));
  return missing.length > 0 ? `this machine lacks the CPU features ${missing.slice(0, 4).join(', ')}` : null;
}

/** The narrowest vectors of all CPUs, in bytes. */
const LEAST_VECTOR_BYTES = 16;

/** x86-64 has 16 vector registers without AVX-512, and 32 with it. Other architectures, such as AArch64, have 32. */
export function hardwareOf(target: Target, { threads, cachesKiB }: Device): Hardware {
  const nativeVectorBytes = target.nativeVectorBytes || LEAST_VECTOR_BYTES;
  const vectorRegisters = targetArchitecture(target) === 'x64' && nativeVectorBytes < 64 ? 16 : 32;
  return { nativeVectorBytes, vectorRegisters, threads, cachesKiB };
}

const AVX2 = ['avx2', 'fma', 'f16c'];
const AVX512 = [...AVX2, ...['f', 'bw', 'dq', 'vl', 'cd'].map((part) => `avx512${part}`)];

/** Features of processors by architecture, the best first. Source: IREE's `common_x86_64.h` and `getMmaIntrinsicRequiredFeatures`. */
type Choices = Readonly<Record<string, readonly (readonly [features: readonly string[], PackingName])[]>>;
const OF_I8: Choices = {
  x64: [
    [[...AVX512, 'avx512vnni'], 'vpdpbusd'],
    [AVX512, '16x16x2'],
    [AVX2, '8x8x2'],
  ],
  arm64: [
    [['i8mm'], '8x8x8'],
    [['dotprod'], '8x8x4'],
    [[], '8x8x1'],
  ],
};

const OF_BF16: Choices = { x64: [[[...AVX512, 'avx512bf16'], 'vdpbf16ps']] };

/** The best packings of products for a processor. */
export function packings(target: Target, release: Release): Packings {
  const has = (features: readonly string[]) => features.every((one) => target.features.includes(one));
  // Older compilers may not know the intrinsics of forms.
  const isKnown = (name: PackingName) => !hasIntrinsic(name) || !isBefore(release, 3, 13);
  const found = Object.entries({ i8: OF_I8, bf16: OF_BF16 }).flatMap(([type, choices]) => {
    const all = choices[targetArchitecture(target)] ?? [];
    const best = all.find(([features, name]) => has(features) && isKnown(name));
    return best === undefined ? [] : [[type, best[1]] as const];
  });
  return Object.fromEntries(found);
}
