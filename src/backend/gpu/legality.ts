// Rules for configurations of GPUs. The compiler checks few of them: it accepts wrong numbers of threads, other subgroup sizes and tiles
// with remainders, and the kernels are slow or wrong. `test/backend/gpu` compares the rules with the compiler's own constraints.
import { elementBits } from '../../workload/element-type.ts';
import type { OperationWork } from '../../workload/workload.ts';
import {
  isConsistent,
  product,
  stepOf,
  threadsOf,
  type GpuConfiguration,
  type MmaTileConfiguration,
  type SharedSumConfiguration,
  type SimtTileConfiguration,
} from './configuration.ts';
import type { Roles, Shaped } from './roles.ts';
import type { GpuTarget, Mma } from './target.ts';

/** The compiler's limit for workgroup tiles with matrix instructions, along m, n and k. */
const MOST_MMA_ELEMENTS = 512;

/** Most sums of one thread without register spills. AMD's matrix cores have separate accumulators. */
const MOST_SUMS = 128;
const MOST_SUMS_OF_AMD = 256;

/** Most subgroups of one sum. With more, the compiler silently adds lanes of other sums. */
const MOST_COMBINED = 32;

/** Most prefetch stages if only some threads load. */
const MOST_PARTIAL_STAGES = 2;

/** Most products of one step of a thread that reads patches without shared memory. With twice as many a compile takes minutes. */
const MOST_GATHERED = 512;

/** Bank padding of a row in shared memory, in bytes. */
const BANK_PADDING_BYTES = 8;

/** The workload and target of a configuration. */
export interface Problem extends Shaped {
  readonly target: GpuTarget;
}

/** The broken rule; null for a configuration that compiles and computes the right result. Pure. */
export function illegality(problem: Problem, c: GpuConfiguration): string | null {
  const { workload, target } = problem;
  const { dimensions } = workload;
  if (c.workgroup.length !== dimensions.length) return 'another number of dimensions';
  if (!isConsistent(c)) return 'a workgroup is no whole number of tiles';
  const threads = threadsOf(c);
  if (!target.subgroupSizes.includes(c.subgroupSize)) return 'no subgroup size of the GPU';
  if (threads > Math.min(target.threads, target.workgroupSizes[0])) return 'too many threads';
  if (threads % c.subgroupSize !== 0) return 'threads are no whole subgroups';
  if (c.kind === 'shared-sum') return illegalSum(problem, c);
  return remainder(problem, c) ?? (c.kind === 'mma-tile' ? illegalMma(problem, c) : illegalSimt(problem, c));
}

/** The configuration itself, or with padding for remainders; else the rule that the padded configuration breaks. */
export function legal<C extends MmaTileConfiguration | SimtTileConfiguration>(
  problem: Problem,
  configuration: C,
): C | string {
  if (illegality(problem, configuration) === null) return configuration;
  const padded = { ...configuration, padded: true };
  return illegality(problem, padded) ?? padded;
}

/** Tiles leave no remainder, or padding makes operands less than twice as large. */
function remainder(
  { workload: { dimensions }, roles }: Problem,
  c: MmaTileConfiguration | SimtTileConfiguration,
): string | null {
  const depth = c.reduction[roles.depth]! * stepOf(c);
  const tiles = dimensions.map(({ kind, size }, d) =>
    kind !== 'k'
      ? ([size, c.workgroup[d]!] as const)
      : d === roles.depth
        ? ([roles.depthSize, depth] as const)
        : roles.igemm
          ? null
          : ([size, c.reduction[d]!] as const),
  );
  for (const [d, pair] of tiles.entries()) {
    if (pair === null) continue;
    const [size, tile] = pair;
    if (tile === 0) return 'a dimension has no tile';
    if (c.padded ? tile >= 2 * size && tile > leastTile(c, roles, d) : size % tile !== 0)
      return c.padded ? 'most of a tile is padding' : 'a tile leaves a remainder';
  }
  return null;
}

/** Elements of one instruction along a dimension, which may be shorter. */
function leastTile(c: MmaTileConfiguration | SimtTileConfiguration, roles: Roles, d: number): number {
  if (c.kind === 'simt-tile') return 1;
  if (d === roles.depth) return stepOf(c);
  return c.workgroup[d]! / ((c.subgroup[d] || 1) * c.subgroups[d]!);
}

/** Upper bound of a workgroup's shared memory in bytes, for both layouts of operands. */
export function sharedBytes(
  { workload: { dimensions, lhs, rhs, accumulator } }: Pick<Problem, 'workload'>,
  c: MmaTileConfiguration | SimtTileConfiguration,
): number {
  const depth = depthOf(c);
  const [rows, columns] = (['m', 'n'] as const).map((kind) => tileAlong(dimensions, c, kind)) as [
    number,
    number,
  ];
  const bytes = (width: number, { elementType }: typeof lhs) => {
    const padding = c.kind === 'mma-tile' && c.bankPadding ? BANK_PADDING_BYTES * Math.max(width, depth) : 0;
    return (width * depth * elementBits(elementType)) / 8 + padding;
  };
  const operands = c.kind === 'simt-tile' && !c.promoted ? 0 : bytes(rows, lhs) + bytes(columns, rhs);
  // Without matrix instructions the padded result is in shared memory, too.
  const result =
    c.kind === 'simt-tile' && c.padded ? (rows * columns * elementBits(accumulator.elementType)) / 8 : 0;
  return operands + result;
}

/** Elements of one step along k. */
const depthOf = (c: MmaTileConfiguration | SimtTileConfiguration): number => product(c.reduction) * stepOf(c);

/** Elements of a workgroup along all dimensions of one kind. */
const tileAlong = (
  dimensions: OperationWork['dimensions'],
  { workgroup }: GpuConfiguration,
  wanted: 'm' | 'n',
): number => dimensions.reduce((all, { kind }, d) => (kind === wanted ? all * (workgroup[d] || 1) : all), 1);

function illegalMma(problem: Problem, c: MmaTileConfiguration): string | null {
  const { workload, roles, target } = problem;
  const { row, column, depth } = roles;
  const mma = usableMmas(workload, target).find(({ name }) => name === c.mma);
  if (mma === undefined) return 'no matrix instruction of the GPU for these types';
  if (row < 0 || column < 0) return 'a product without rows or columns';
  for (const [d, along] of [
    [row, mma.m],
    [column, mma.n],
  ] as const)
    if (c.workgroup[d] !== c.subgroup[d]! * c.subgroups[d]! * along)
      return 'a workgroup is no whole number of instructions';
  const side = (kind: 'm' | 'n') => tileAlong(workload.dimensions, c, kind);
  if (Math.max(side('m'), side('n'), c.reduction[depth]! * mma.k) > MOST_MMA_ELEMENTS)
    return 'tiles of a workgroup are too large';
  const sums = (side('m') * side('n')) / threadsOf(c);
  if (sums > (mma.name.startsWith('MFMA') ? MOST_SUMS_OF_AMD : MOST_SUMS)) return 'registers would spill';
  // The compiler crashes if only some threads prefetch.
  const isPartial = (['m', 'n'] as const).some((kind) => (side(kind) * depthOf(c)) % threadsOf(c) !== 0);
  if ((c.prefetch ?? 0) > MOST_PARTIAL_STAGES && isPartial) return 'only some threads load ahead';
  return sharedBytes(problem, c) > target.sharedMemoryBytes ? 'too little shared memory' : null;
}

function illegalSimt(problem: Problem, c: SimtTileConfiguration): string | null {
  const { workload, target } = problem;
  const sums = product(c.thread);
  if (sums > MOST_SUMS) return 'registers would spill';
  if (c.igemm && !c.promoted && sums * depthOf(c) > MOST_GATHERED) return 'a thread reads too many patches';
  // AMD's code generator then selects no instruction for a constant.
  const isOdd = c.thread.some((tile) => tile > 1 && tile % 2 === 1);
  const isNarrow = elementBits(workload.lhs.elementType) < 32;
  if (target.architecture.startsWith('gfx') && isNarrow && c.promoted && c.padded && isOdd)
    return 'padded tiles of a narrow type are odd';
  return sharedBytes(problem, c) > target.sharedMemoryBytes ? 'too little shared memory' : null;
}

function illegalSum({ workload: { dimensions }, roles }: Problem, c: SharedSumConfiguration): string | null {
  if (roles.igemm) return 'convolutions have no shared sums';
  const others = c.lanes.reduce((all, count, d) => (d === roles.depth ? all : all * count), 1);
  if (others * c.subgroups[roles.depth]! > MOST_COMBINED) return 'too many subgroups share a sum';
  for (const [d, { kind, size }] of dimensions.entries()) {
    const tile = (kind === 'k' ? c.reduction : c.workgroup)[d]!;
    if (tile === 0) return 'a dimension has no tile';
    if (size % tile !== 0) return 'a tile leaves a remainder';
  }
  const held = c.workgroup.reduce(
    (all, tile, d) => (tile === 0 ? all : (all * tile) / (c.lanes[d]! * c.subgroups[d]!)),
    1,
  );
  return held > MOST_SUMS ? 'registers would spill' : null;
}

/** Matrix instructions for a workload's types. */
export const mmasFor = ({ lhs, rhs, accumulator }: OperationWork, { mma }: GpuTarget): Mma[] =>
  mma.filter(
    (one) =>
      one.lhs === lhs.elementType &&
      one.rhs === rhs.elementType &&
      one.accumulator === accumulator.elementType,
  );

/** The same for CUDA and HIP. The compiler lists `NV_WMMA` without code generation for it. */
export const usableMmas = (workload: OperationWork, target: GpuTarget): Mma[] =>
  mmasFor(workload, target).filter(({ name }) => !name.startsWith('NV_WMMA'));
