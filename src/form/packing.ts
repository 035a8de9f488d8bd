// How products in tiles, and of strips, are multiplied, and which processors can. By default, the compiler multiplies narrow numbers one by one, where
// the processor has dot products. With data tiling of a whole program, it swaps the sides of narrow results, and has microkernels only. A form
// that writes the tiles itself needs no flag, and can use intrinsics: see `tiles.ts` and `strips.ts`.
/** How a product in tiles is multiplied. */
export interface Packing {
  /** Most rows of a tile. */
  readonly rows: number;
  readonly columns: number;
  /** Along the summed dimension. */
  readonly depth: number;
  /** The compiler's intrinsic for tiles of one row, which may have any number of rows then. Null for a microkernel of the runtime. */
  readonly intrinsic: string | null;
  /** Whether integers of the first factor are unsigned. Those of the second are signed. */
  readonly isUnsigned: boolean;
  /** Whether only the second factor has another layout: strips of `columns`. */
  readonly hasStrips?: true;
}

const kernel = (rows: number, columns: number, depth: number): Packing => ({
  ...{ rows, columns, depth },
  ...{ intrinsic: null, isUnsigned: false },
});

/** Columns of a strip. */
export const STRIP = 16;
export const WIDEST_STRIP = 4 * STRIP;

/** Rows whose sums fit into 32 registers, beside a row of each factor. */
const MOST_ROWS = 28;

/**
 * By name: microkernels by their sizes, and intrinsics. The runtime computes wrong sums in tiles that it has no microkernel for. Source: IREE's
 * `mmt4d_x86_64_tiles.inl`, `mmt4d_arm_64_tiles.inl` and `IREECPUEnums.td`.
 */
const PACKINGS = {
  '16x16x2': kernel(16, 16, 2),
  '8x8x2': kernel(8, 8, 2),
  '8x8x8': kernel(8, 8, 8),
  '8x8x4': kernel(8, 8, 4),
  '8x8x1': kernel(8, 8, 1),
  vpdpbusd: {
    ...{ rows: MOST_ROWS, columns: 16, depth: 4 },
    ...{ intrinsic: 'MMA_X86_AVX512VNNI_1x16x4_I32_UI8_I8', isUnsigned: true },
  },
  vdpbf16ps: {
    ...{ rows: MOST_ROWS, columns: 16, depth: 2 },
    ...{ intrinsic: 'MMA_X86_AVX512BF16_1x16x2_F32_BF16', isUnsigned: false },
  },
  // Twelve sums, two vectors of a strip and an element of a row fill 15 of 16 registers.
  '6x16': { ...kernel(6, STRIP, 1), hasStrips: true },
  // For 32 registers: 24 sums. More rows evict each other where a row has a power of two of elements.
  '6x64': { ...kernel(6, WIDEST_STRIP, 1), hasStrips: true },
} as const satisfies Readonly<Record<string, Packing>>;

export type PackingName = keyof typeof PACKINGS;

/** Types of factors that can be in tiles. Those of `stored` are f32, and narrower weights. */
export type Packed = 'i8' | 'bf16' | 'f16' | 'f32' | 'stored';

/** The packing of a processor by the type of the factors; without an entry for none. */
export type Packings = Readonly<Partial<Record<Packed, PackingName>>>;

/** Whether a packing is of the compiler's code, not of the runtime's. */
export const hasIntrinsic = (name: PackingName): boolean => PACKINGS[name].intrinsic !== null;

/** The name of a form with a packing: `windows-by-filters-vpdpbusd`. */
export const packedName = (name: string, packing: PackingName): string => `${name}-${packing}`;

/** The parts of a form's name. */
export interface FormName {
  readonly name: string;
  readonly packing: Packing | null;
}

export function packingIn(form: string): FormName {
  const at = form.lastIndexOf('-');
  const packing = form.slice(at + 1);
  if (!Object.hasOwn(PACKINGS, packing)) return { name: form, packing: null };
  return { name: form.slice(0, at), packing: PACKINGS[packing as PackingName] };
}

/** Most workgroups along the rows and along the columns. By default, each tile is one, which two threads hand out for longer than they multiply. */
export const MOST_WORKGROUPS = 8;

/** @param tiles of workgroups, of registers along the parallel loops, and along the summed loop */
export function configurationText(tiles: readonly (readonly number[])[], pipeline: string): string {
  const [distribution, parallel, reduction] = tiles.map((one) => `[${one.join(', ')}]`);
  return `#iree_codegen.compilation_info<lowering_config = #iree_cpu.lowering_config<distribution = ${distribution!}, vector_common_parallel = ${parallel!}, vector_reduction = ${reduction!}>, translation_info = #iree_codegen.translation_info<pipeline = ${pipeline}>>`;
}
