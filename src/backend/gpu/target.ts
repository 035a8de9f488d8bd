// The compiler's description of a GPU in every dump: `#iree_gpu.target<arch = ..., wgp = <...>>`.
import { dialectAttributes, stringOf } from 'mlir-parser-ts';

/** One matrix instruction: `accumulator (m x n) += lhs (m x k) * rhs (k x n)` by the threads of one subgroup. */
export interface Mma {
  /** The compiler's spelling, such as `NV_MMA_SYNC_F32_16x8x16_F16`. */
  readonly name: string;
  /** Elements along m, n and k. */
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Element types in MLIR's spelling. */
  readonly lhs: string;
  readonly rhs: string;
  readonly accumulator: string;
}

/** Plain data for JSON. */
export interface GpuTarget {
  /** Such as `sm_80` or `gfx942`. */
  readonly architecture: string;
  /** Matrix instructions on one block, in the compiler's order of preference; empty for none. */
  readonly mma: readonly Mma[];
  /** Possible sizes of a subgroup in threads; the compiler prefers the first. */
  readonly subgroupSizes: readonly number[];
  /** Most threads of a workgroup along x, y and z. */
  readonly workgroupSizes: readonly [x: number, y: number, z: number];
  readonly threads: number;
  /** Shared memory of a workgroup in bytes. */
  readonly sharedMemoryBytes: number;
}

/**
 * Limits and instructions of the first GPU in a text, for legality rules and search spaces.
 * @param text `Target.gpu`, or a dump of the compiler
 * @returns null for a text without a GPU, or with a missing limit
 */
export function readGpuTarget(text: Uint8Array): GpuTarget | null {
  const target = dialectAttributes(text, '#iree_gpu.target')[0];
  const processor = target && entriesOf(target.entries.get('wgp'));
  if (processor === undefined) return null;
  const integers = (name: string) => (processor.get(name)?.match(/\d+/g) ?? []).map(Number);
  const [threads] = integers('max_thread_count_per_workgroup');
  const [sharedMemoryBytes] = integers('max_workgroup_memory_bytes');
  const [x, y, z] = integers('max_workgroup_sizes');
  const subgroupSizes = integers('subgroup_size_choices');
  if (
    threads === undefined ||
    sharedMemoryBytes === undefined ||
    z === undefined ||
    subgroupSizes.length === 0
  )
    return null;
  return {
    architecture: stringOf(target?.entries.get('arch') ?? '') ?? '',
    mma: [...(processor.get('mma') ?? '').matchAll(/<(\w+)>/g)].flatMap(([, name]) => readMma(name!) ?? []),
    subgroupSizes,
    workgroupSizes: [x!, y!, z],
    threads,
    sharedMemoryBytes,
  };
}

/** Entries of a `<name = value, ...>` without a dialect. */
const entriesOf = (text: string | undefined) =>
  text === undefined ? undefined : dialectAttributes(Buffer.from(`#a.b${text}`), '#a.b')[0]?.entries;

/** A matrix instruction by its name; null for an instruction on several blocks, which no pipeline uses. */
export function readMma(name: string): Mma | null {
  const parts = /^\w+_([BFI]+\d+)_(\d+)x(\d+)x(\d+)_([A-Z0-9]+)(?:_([A-Z0-9]+))?$/.exec(name);
  if (parts === null) return null;
  const [, accumulator, m, n, k, lhs, rhs] = parts;
  return {
    name,
    ...{ m: Number(m), n: Number(n), k: Number(k) },
    ...{ lhs: elementType(lhs!), rhs: elementType(rhs ?? lhs!), accumulator: elementType(accumulator!) },
  };
}

/** `BF16` is `bf16`, `F8E4M3FNUZ` is `f8E4M3FNUZ`: in MLIR's spelling the class is small. */
const elementType = (name: string): string => name.replace(/^(?:BF|F|I)/, (letters) => letters.toLowerCase());
