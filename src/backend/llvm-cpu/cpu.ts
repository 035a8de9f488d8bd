// The CPU as a device of IREE's runtime.
import { isBefore, type Release } from '../../compiler/release.ts';
import { hasIntrinsic, type PackingName, type Packings } from '../../form/packing.ts';
import { cpuQuota, threadsWithin } from '../../system/cpu-quota.ts';
import {
  architecture,
  cacheSizesKiB,
  coresIn,
  cpuFeatures,
  cpuModel,
  cpuNumbers,
  sharedCaches,
  threadsPerCore,
} from '../../system/processor.ts';
import type { Hardware, Machine } from '../backend.ts';
import { limitedBy, type Device, type Processor } from '../device.ts';
import type { Meter } from '../meter.ts';
import { targetArchitecture, type Target } from '../target.ts';

/**
 * A machine for a driver of the runtime. In a container it has fewer threads than cores if its CPU quota would stop more.
 * @param root folder of the system's files: see `processor.ts`
 * @param quota of `cpuQuota`; that of another machine is not known
 */
export function describeDevice(
  driver: string,
  root = '',
  quota = root === '' ? cpuQuota() : null,
  cores?: number,
): Device {
  let processor: Processor | null | undefined;
  const threads = driver === 'local-sync' ? 1 : threadsWithin(quota, cores ?? coresIn(root));
  return {
    model: cpuModel(root),
    driver,
    threads,
    cachesKiB: cacheSizesKiB(root),
    ...limitedBy(quota, threads),
    // Half a millisecond of system calls, which a hit does not need.
    get processor() {
      processor ??= describeProcessor(root);
      return processor ?? undefined;
    },
  };
}

function describeProcessor(root: string): Processor | null {
  const numbers = cpuNumbers(root);
  if (numbers === null) return null;
  return {
    architecture: architecture(root),
    ...numbers,
    threadsPerCore: threadsPerCore(root),
    caches: sharedCaches(root),
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

/** The reason that a machine's CPU cannot run code for `target`; null if the CPU can. */
export async function whyNotRunnable(
  target: Target,
  _: Device,
  { root, isUnknown, hostTarget }: Machine,
): Promise<string | null> {
  // The first run shows whether an emulator can.
  if (isUnknown) return null;
  const own = architecture(root);
  const machine = root === '' ? 'this machine' : 'the machine of the setting runner';
  if (targetArchitecture(target) !== own) return `${machine} is ${own} and cannot run ${target.triple}`;
  const missing = root === '' ? await lacking(target, hostTarget) : lackingThere(target, cpuFeatures(root));
  if (missing === null) return "this machine's own CPU features are not known";
  return missing.length > 0 ? `${machine} lacks the CPU features ${missing.slice(0, 4).join(', ')}` : null;
}

/** Features of a target that this machine lacks; null if those of this machine are unknown. */
async function lacking({ features }: Target, hostTarget: Machine['hostTarget']): Promise<string[] | null> {
  const host = await hostTarget();
  if (host === null) return null;
  const own = new Set(host.features);
  return features.filter((feature) => !own.has(feature));
}

/** Linux's names of features whose lack ends a program, by the compiler's names where they differ by more than dashes. */
const NAMES_IN_LINUX: Readonly<Record<string, string>> = {
  bmi: 'bmi1',
  dotprod: 'asimddp',
  fullfp16: 'asimdhp',
};
const DECISIVE = /^(?:avx|amx|fma$|f16c$|bmi|sve|i8mm$|bf16$|dotprod$|fullfp16$)/;

/** Features of a target that another machine lacks, by the text of its system. */
function lackingThere({ features }: Target, text: string): string[] {
  // Such as `avx512_vnni` and `avx512vnni`, `svebitperm` and `sve-bitperm`.
  const withoutDashes = (name: string) => name.replaceAll(/[-_]/g, '');
  const own = new Set(text.split(' ').map(withoutDashes));
  return features.filter((one) => DECISIVE.test(one) && !own.has(NAMES_IN_LINUX[one] ?? withoutDashes(one)));
}

/** The narrowest vectors of all CPUs, in bytes. */
const LEAST_VECTOR_BYTES = 16;

/** Scalable vectors of AArch64 count as their least width, because the compiler uses them only with a flag. */
export function hardwareOf(target: Target, { threads, cachesKiB }: Device): Hardware {
  const nativeVectorBytes = target.nativeVectorBytes || LEAST_VECTOR_BYTES;
  const vectorRegisters = vectorRegistersOf(targetArchitecture(target), nativeVectorBytes);
  const hasByteMatrices = targetArchitecture(target) === 'arm64' && target.features.includes('i8mm');
  return {
    ...{ nativeVectorBytes, vectorRegisters, threads, cachesKiB },
    ...(hasByteMatrices && { hasByteMatrices }),
  };
}

/** Number of vectors of this width that fit into the registers. */
function vectorRegistersOf(architecture: string, nativeVectorBytes: number): number {
  // Without AVX-512 there are 16 registers, and 32 with it.
  if (architecture === 'x64' && nativeVectorBytes < 64) return 16;
  // There are 32 registers. A vector of the compiler is a group of two.
  if (architecture.startsWith('riscv')) return 16;
  return 32;
}

const AVX2 = ['avx2', 'fma', 'f16c'];
const AVX512 = [...AVX2, ...['f', 'bw', 'dq', 'vl', 'cd'].map((part) => `avx512${part}`)];

/** Features of processors by architecture, the best first. Source: IREE's `common_x86_64.h` and `getMmaIntrinsicRequiredFeatures`. */
type Choices = Readonly<
  Record<string, readonly (readonly [features: readonly string[], PackingName | null])[]>
>;
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

/** AVX2 has few registers. With more of them, tiles that are found by a search are as fast. */
const OF_F32: Choices = {
  x64: [
    [AVX512, null],
    [AVX2, '6x16'],
  ],
};

/** Weights that are widened in registers. */
const OF_STORED: Choices = {
  x64: [
    [AVX512, '6x64'],
    [AVX2, '6x16'],
  ],
};

const OF_BF16: Choices = { x64: [[[...AVX512, 'avx512bf16'], 'vdpbf16ps']] };

export function packings(target: Target, release: Release): Packings {
  const has = (features: readonly string[]) => features.every((one) => target.features.includes(one));
  // Older compilers may not know the intrinsics of forms.
  const isKnown = (name: PackingName | null) =>
    name === null || !hasIntrinsic(name) || !isBefore(release, 3, 13);
  const found = Object.entries({
    i8: OF_I8,
    bf16: OF_BF16,
    f16: OF_STORED,
    f32: OF_F32,
    stored: OF_STORED,
  }).flatMap(([type, choices]) => {
    const all = choices[targetArchitecture(target)] ?? [];
    const best = all.find(([features, name]) => has(features) && isKnown(name));
    return best === undefined || best[1] === null ? [] : [[type, best[1]] as const];
  });
  return Object.fromEntries(found);
}
