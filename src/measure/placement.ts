// How operands come to lie in memory. It depends on the C library of the runtime, and is looked for.
import { deviceFlags, meterOf } from '../backend/index.ts';
import { compiled, NO_CONVERSION } from './common-modules.ts';
import { runTool, type Toolchain } from './toolchain.ts';

/**
 * `apart` as large allocations are by themselves, each at the same offset in its page; `packed` one behind the other. Programs
 * see both, and some configurations are good in one of them only.
 */
export type Placement = 'apart' | 'packed';

const PLACEMENTS: readonly Placement[] = ['apart', 'packed'];

/**
 * Understood by glibc, and without effect elsewhere. Without the second one each result would be given back to the system, and
 * its pages cleared anew for the next: more than the work takes, and programs do not.
 */
const PACKED = ['mmap_threshold', 'trim_threshold']
  .map((name) => `glibc.malloc.${name}=${2 ** 30}`)
  .join(':');

/** Variables that a tool of the runtime takes to place operands like this. */
export const environmentOf = (placement: Placement | undefined): Readonly<Record<string, string>> =>
  placement === 'packed' ? { GLIBC_TUNABLES: PACKED } : {};

/** What two operands take each, in bytes: as much as what is allocated by itself, and no whole pages. */
const BYTES = 300_000;
const PAGE_BYTES = 4096;

const TYPE = `tensor<${BYTES}xi8>`;
const LAYOUT = `#hal.pipeline.layout<bindings = [${Array(3).fill('#hal.pipeline.binding<storage_buffer>').join(', ')}]>`;

/** A function that gives the addresses of its two arguments. */
const ADDRESSES = `module {
  hal.executable.source private @executable {
    hal.executable.export public @addresses ordinal(0) layout(${LAYOUT}) count(%device: !hal.device) -> (index, index, index) {
      %one = arith.constant 1 : index
      hal.return %one, %one, %one : index, index, index
    }
    builtin.module {
      func.func @addresses() {
        %i0 = arith.constant 0 : index
        %i1 = arith.constant 1 : index
        %result = hal.interface.binding.subspan layout(${LAYOUT}) binding(2) offset(%i0) : memref<2xi64>
${[0, 1]
  .map(
    (
      i,
    ) => `        %memory${i} = hal.interface.binding.subspan layout(${LAYOUT}) binding(${i}) offset(%i0) : memref<${BYTES}xi8>
        %index${i} = memref.extract_aligned_pointer_as_index %memory${i} : memref<${BYTES}xi8> -> index
        %address${i} = arith.index_cast %index${i} : index to i64
        memref.store %address${i}, %result[%i${i}] : memref<2xi64>`,
  )
  .join('\n')}
        return
      }
    }
  }
  func.func @addresses(%a: ${TYPE}, %b: ${TYPE}) -> tensor<2xi64> {
    %result = flow.dispatch @executable::@addresses(%a, %b) : (${TYPE}, ${TYPE}) -> tensor<2xi64>
    return %result : tensor<2xi64>
  }
}
`;

const TIMEOUT_SECONDS = 10;

/** By path of the runtime's tool. */
const known = new Map<string, Promise<readonly Placement[]>>();

/**
 * The placements that differ here. With another C library than glibc, or another allocator in its place, both are alike: then it is
 * `apart` alone. Both where nobody can tell.
 * @throws StoppedError when the toolchain's signal fires
 */
export function placementsHere(toolchain: Toolchain): Promise<readonly Placement[]> {
  const { runModule, device } = toolchain;
  if (!meterOf(device).hasPlacements) return Promise.resolve(['apart']);
  let found = known.get(runModule);
  if (found === undefined) {
    found = findPlacements(toolchain);
    known.set(runModule, found);
    found.catch(() => known.delete(runModule));
  }
  return found;
}

async function findPlacements(toolchain: Toolchain): Promise<readonly Placement[]> {
  const module = await compiled(toolchain, ADDRESSES, [NO_CONVERSION], 'vmfb');
  if (module === null) return PLACEMENTS;
  const distances = await Promise.all(
    PLACEMENTS.map((placement) => pageDistance(toolchain, module, placement)),
  );
  if (distances.includes(null)) return PLACEMENTS;
  const [apart, packed] = distances;
  return apart === 0 && packed !== 0 ? PLACEMENTS : ['apart'];
}

/** Bytes between the offsets of two operands in their pages; null where it cannot be told. */
async function pageDistance(
  { runModule, device, signal }: Toolchain,
  module: string,
  placement: Placement,
): Promise<number | null> {
  const inputs = [1, 2].map((value) => `--input=${BYTES}xi8=${value}`);
  const argv = [`--module=${module}`, ...deviceFlags(device), '--function=addresses', ...inputs];
  const { stdout } = await runTool(runModule, argv, TIMEOUT_SECONDS, signal, {
    env: environmentOf(placement),
  });
  const [, first, second] = /^2xi64=(\d+) (\d+)$/m.exec(stdout) ?? [];
  if (first === undefined || second === undefined) return null;
  return Number((BigInt(second) - BigInt(first)) % BigInt(PAGE_BYTES));
}
