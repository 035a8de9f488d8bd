// Placements of operands in memory. They depend on the C library of the runtime, so a small program detects them.
import { deviceFlags, meterOf } from '../backend/index.ts';
import { PLACEMENTS } from '../store/fields.ts';
import { compiled, NO_CONVERSION } from './common-modules.ts';
import { runTool, type Toolchain } from './toolchain.ts';

/**
 * `apart`: each operand is an allocation with pages of its own, at the same offset in its page. `packed`: operands lie one after the
 * other. Programs have both, and some configurations are fast in only one.
 */
export type Placement = (typeof PLACEMENTS)[number];

/**
 * Tunables of glibc, without effect elsewhere. Without the second, each result's pages would return to the system and be cleared for
 * the next call. Programs do not pay that cost.
 */
const PACKED = ['mmap_threshold', 'trim_threshold']
  .map((name) => `glibc.malloc.${name}=${2 ** 30}`)
  .join(':');

/** Environment variables that give a process this placement. */
export const environmentOf = (placement: Placement | undefined): Readonly<Record<string, string>> =>
  placement === 'packed' ? { GLIBC_TUNABLES: PACKED } : {};

/** Bytes of each of two operands: large enough for an allocation with its own pages, and not a multiple of a page. */
const BYTES = 300_000;
const PAGE_BYTES = 4096;

const TYPE = `tensor<${BYTES}xi8>`;
const LAYOUT = `#hal.pipeline.layout<bindings = [${Array(3).fill('#hal.pipeline.binding<storage_buffer>').join(', ')}]>`;

/** Stores the address of one argument in the result. */
const storing = (
  i: number,
) => `        %memory${i} = hal.interface.binding.subspan layout(${LAYOUT}) binding(${i}) offset(%i0) : memref<${BYTES}xi8>
        %index${i} = memref.extract_aligned_pointer_as_index %memory${i} : memref<${BYTES}xi8> -> index
        %address${i} = arith.index_cast %index${i} : index to i64
        memref.store %address${i}, %result[%i${i}] : memref<2xi64>`;

/** A function that returns the addresses of its two arguments. */
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
${[0, 1].map(storing).join('\n')}
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

/** Placements by the path of `iree-run-module`. */
const known = new Map<string, Promise<readonly Placement[]>>();

/**
 * The placements that differ on this machine. Without glibc's allocator both are the same, so only `apart` is left. If the detection
 * fails, both.
 * @throws StoppedError when the toolchain's signal fires
 */
export function placementsHere(toolchain: Toolchain): Promise<readonly Placement[]> {
  const { runModule, device } = toolchain;
  if (!meterOf(device).hasPlacements) return Promise.resolve(['apart']);
  const found = known.get(runModule) ?? findPlacements(toolchain);
  known.set(runModule, found);
  found.catch(() => known.delete(runModule));
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

/** Difference of the operands' offsets in their pages, in bytes; null if the program fails. */
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
